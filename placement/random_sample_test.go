package placement

import (
	"math"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestScatteredPartIsMixedIn checks that predictions combine the odds of windows and of random
// samples by their weights. If the scheduler does not sample, Odds is nil.
func TestScatteredPartIsMixedIn(t *testing.T) {
	w := newUnevenCluster(3, 300).model(t)
	p := podID(t, w, "a3-0")
	odds := func(weight float64) map[cluster.NodeID]float64 {
		w.predictor().RandomSampleWeight = weight
		s, out := w.Predict(p).Gone, map[cluster.NodeID]float64{}
		for i, n := range s.Winners {
			out[n] = s.WinnerProb(i)
		}
		return out
	}
	windows, sets, both := odds(0), odds(1), odds(0.25)
	if len(both) <= len(windows) {
		t.Errorf("%d winners, want more than %d, the number without random samples", len(both), len(windows))
	}
	for n, got := range both {
		if want := 0.75*windows[n] + 0.25*sets[n]; math.Abs(got-want) > 1e-12 {
			t.Errorf("node %d: %.6f, want %.6f", n, got, want)
		}
	}
	few := newUnevenCluster(3, 100).model(t)
	if s := few.Predict(podID(t, few, "a3-0")).Gone; s.Odds != nil || s.SampleSize != 0 {
		t.Errorf("100 nodes: odds %v with sample size %d, want no sampling", s.Odds, s.SampleSize)
	}
}
