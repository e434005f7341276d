package placement

import (
	"math"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
)

// randomSampleOdds computes the odds of each node in a random sample by counting the samples
// without a better node.
func randomSampleOdds(w *ClusterModel, p cluster.PodID, gone bool) map[cluster.NodeID]float64 {
	in, odds := w.replacementOf(p), map[cluster.NodeID]float64{}
	size := sampling.SampleSize(len(w.Cluster.Snap.Nodes), in.Profile.PercentageOfNodesToScore)
	inBothVictimStates(w.Cluster, p, func(g bool) {
		if g != gone {
			return
		}
		r := w.newAttempt(in, p)
		feasible := filter.FeasibleNodes(&r, nil)
		score.Score(&r, feasible)
		for i, n := range feasible {
			better, ties := 0, 0
			for _, t := range w.scratch.Total {
				if t > w.scratch.Total[i] {
					better++
				} else if t == w.scratch.Total[i] {
					ties++
				}
			}
			odds[n] = (probabilityWithoutNodes(len(feasible), better, size) - probabilityWithoutNodes(len(feasible), better+ties, size)) / float64(ties)
		}
	})
	return odds
}

// probabilityWithoutNodes returns the share of the samples of this size, out of n nodes, that
// contain none of k nodes.
func probabilityWithoutNodes(n, k, size int) float64 {
	if n-k < size {
		return 0
	}
	f := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(f(n-k) - f(n-k-size) - f(n) + f(n-size))
}

func TestScatteredPartIsThatOfEverySet(t *testing.T) {
	states := 0
	for seed := range int64(6) {
		s := newUnevenCluster(seed, 121+int(seed)*20).model(t).Cluster.Snap
		profile := scheduler.DefaultProfile()
		if seed == 5 {
			profile = scheduler.MostAllocatedProfile()
		}
		w := NewClusterModel(s, Options{Profiles: map[string]scheduler.Profile{corev1.DefaultSchedulerName: profile}})
		w.randomSampleWeight = 1
		for a := range 8 {
			p := podID(t, w, "a"+string(rune('0'+a))+"-0")
			pr := w.Predict(p)
			for _, gone := range []bool{false, true} {
				got, want := pr.Terminating, randomSampleOdds(w, p, gone)
				if gone {
					got = pr.Gone
				}
				if got.Odds == nil {
					continue
				}
				states++
				for n, p := range want {
					is := 0.0
					if i := slices.Index(got.Winners, n); i >= 0 {
						is = got.Odds[i]
					}
					if math.Abs(is-p) > 1.01*sampling.Negligible {
						t.Fatalf("seed %d, a%d, gone %v, node %d: %.6f, want %.6f", seed, a, gone, n, is, p)
					}
				}
			}
		}
	}
	if states < 60 {
		t.Errorf("%d states were sampled, want at least 60", states)
	}
}

// TestScatteredPartIsMixedIn checks that predictions combine the odds of windows and of random
// samples by their weights. If the scheduler does not sample, Odds is nil.
func TestScatteredPartIsMixedIn(t *testing.T) {
	w := newUnevenCluster(3, 300).model(t)
	p := podID(t, w, "a3-0")
	odds := func(weight float64) map[cluster.NodeID]float64 {
		w.randomSampleWeight = weight
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
