package window_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// TestRatiosOfPods measures cpu and two ratios of pods. A resource without a value for over a minute is unknown.
func TestRatiosOfPods(t *testing.T) {
	o := testOptions()
	o.Statistic = window.Max
	w := window.New(o)
	for i := range 8 {
		s := sampleOfNodeA(30*i, 500)
		used := map[string]int64{"cpu": int64(100 + i), "stall": int64(500_000 - i)}
		if i < 4 {
			used["disk"] = 200_000
		}
		only := map[string]int64{"disk": int64(i)}
		s.Pods = map[string]usage.Reading{"shop/web": {At: secondsAfterStart(30 * i), Used: used},
			"shop/only": {At: secondsAfterStart(30 * i), Used: only}}
		w.Add(s, testNodes("a"), onNodeA)
		got := map[string]map[string]int64{}
		for _, p := range w.Usage(secondsAfterStart(30 * i)).Pods {
			got[p.Name] = p.Used
		}
		want := map[string]map[string]int64{"web": {"cpu": int64(100 + i), "stall": 500_000}, "only": only}
		if i < 6 {
			want["web"]["disk"] = 200_000
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("sample %d: %s", i, d)
		}
	}
	// The source measures nothing more of the pods.
	for i := 8; i < 24; i++ {
		w.Add(sampleOfNodeA(30*i, 500), testNodes("a"), onNodeA)
	}
	if pods := w.Usage(secondsAfterStart(30 * 23)).Pods; len(pods) > 0 {
		t.Errorf("after 8 minutes without a sample, the usage has %v", pods)
	}
}
