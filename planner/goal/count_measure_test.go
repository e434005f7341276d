package goal

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestLeastExcess compares LeastExcess with the sum over all domains.
func TestLeastExcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "domains")
		m := &CountMeasure{Domains: &domains{ids: map[string]int32{}}, Limit: rapid.IntRange(0, 3).Draw(t, "limit")}
		takes := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "takes")
		pods, room := 0, 0
		for d := range n {
			m.Domains.ids[fmt.Sprint(d)] = int32(d)
			count := rapid.IntRange(0, 5).Draw(t, "pods")
			if count > 0 {
				m.counts = append(m.counts, domainCount{int32(d), int32(count)})
			}
			pods += count
			if takes[d] {
				count = m.Limit
			}
			room += min(count, m.Limit)
		}
		if got, want := m.LeastExcess(func(d int) bool { return takes[d] }), max(0, pods-room); got != want {
			t.Errorf("the least excess is %d, want %d", got, want)
		}
	})
}
