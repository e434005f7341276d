package budgets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// counts counts agreements and differences between the answers.
type counts struct {
	mu              sync.Mutex
	seed            uint64
	cases           int
	flavours        map[flavour]int
	bothAllow       int // both allow
	bothRefuse      int // both refuse
	byCode          map[string]int
	documented      map[string]int // Evenkeel refuses, the server allows: by documented case
	wronglyAllowed  []string       // Evenkeel allows, the server refuses
	unexplained     []string       // Evenkeel refuses, the server allows, and no documented case applies
	countMatches    int            // budgets for which the count of the pods equals the controller's
	countMismatches []string       // budgets whose pod count differs from the controller's
}

func newCounts(seed uint64) *counts {
	return &counts{seed: seed, flavours: map[flavour]int{}, byCode: map[string]int{}, documented: map[string]int{}}
}

func (t *counts) withLock(f func()) { t.mu.Lock(); defer t.mu.Unlock(); f() }

func (t *counts) countCase(c *testCase) { t.withLock(func() { t.cases++; t.flavours[c.flavour]++ }) }

func (t *counts) countAgreement(a evictionAttempt) {
	t.withLock(func() {
		if a.ours.Allowed {
			t.bothAllow++
			return
		}
		t.bothRefuse++
		t.byCode[a.ours.Code]++
	})
}

func (t *counts) addWronglyAllowed(story string) {
	t.withLock(func() { t.wronglyAllowed = append(t.wronglyAllowed, story) })
}

func (t *counts) addUnexplained(story string) {
	t.withLock(func() { t.unexplained = append(t.unexplained, story) })
}

func (t *counts) countMatch() { t.withLock(func() { t.countMatches++ }) }

func (t *counts) addMismatch(story string) {
	t.withLock(func() { t.countMismatches = append(t.countMismatches, story) })
}

func (t *counts) countDocumented(why string) { t.withLock(func() { t.documented[why]++ }) }

// String returns the table of the comparison.
func (t *counts) String() string {
	var s strings.Builder
	row := func(what string, n int) { fmt.Fprintf(&s, "%7d  %s\n", n, what) }
	documented := 0
	for _, n := range t.documented {
		documented += n
	}
	fmt.Fprintf(&s, "seed %d\n", t.seed)
	row("cases", t.cases)
	for _, f := range slices.Sorted(maps.Keys(t.flavours)) {
		row("  "+string(f), t.flavours[f])
	}
	row("budgets whose pod count equals the controller's", t.countMatches)
	row("budgets whose pod count differs", len(t.countMismatches))
	row("answers compared", t.bothAllow+t.bothRefuse+documented+len(t.wronglyAllowed)+len(t.unexplained))
	row("both allow", t.bothAllow)
	row("both refuse", t.bothRefuse)
	for _, code := range slices.Sorted(maps.Keys(t.byCode)) {
		row("  "+code, t.byCode[code])
	}
	row("Evenkeel allows, the server refuses", len(t.wronglyAllowed))
	row("Evenkeel refuses, the server allows: documented", documented)
	for _, why := range slices.Sorted(maps.Keys(t.documented)) {
		row("  "+why, t.documented[why])
	}
	row("Evenkeel refuses, the server allows: unexplained", len(t.unexplained))
	return s.String()
}
