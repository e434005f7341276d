package landings

import (
	"fmt"
	"strings"
	"testing"
)

// probabilityBins group placements by the predicted probability of their node group.
type probabilityBins struct {
	bins          [5]probabilityBin
	possibleNodes int // number of possible nodes, summed over placements
}

type probabilityBin struct {
	probabilities []float64
	hits          int
}

func (b *probabilityBins) add(p placement) {
	x := &b.bins[min(int(p.groupProbability*float64(len(b.bins))), len(b.bins)-1)]
	x.probabilities = append(x.probabilities, p.groupProbability)
	if p.hit {
		x.hits++
	}
	b.possibleNodes += len(p.probabilities)
}

const alpha = 0.01 // for 99 % intervals

func (b *probabilityBins) table() string {
	var out strings.Builder
	fmt.Fprintln(&out, "predicted    placements  predicted hits 99 % interval  hits")
	for i, x := range b.bins {
		mean := 0.0
		for _, p := range x.probabilities {
			mean += p
		}
		low, high := hitInterval(x.probabilities, alpha)
		fmt.Fprintf(&out, "%.1f to %.1f   %10d  %13.1f  %5d to %4d  %5d\n",
			float64(i)/float64(len(b.bins)), float64(i+1)/float64(len(b.bins)), len(x.probabilities), mean, low, high, x.hits)
	}
	return out.String()
}

// outsideInterval returns the bins with too few or too many hits.
func (b *probabilityBins) outsideInterval() (out []string) {
	for i, x := range b.bins {
		if low, high := hitInterval(x.probabilities, alpha); x.hits < low || x.hits > high {
			out = append(out, fmt.Sprintf("%.1f to %.1f", float64(i)/float64(len(b.bins)), float64(i+1)/float64(len(b.bins))))
		}
	}
	return out
}

// checkCoverage fails if the test has too few placements, or if nearly all of them were certain.
func (b *probabilityBins) checkCoverage(t *testing.T, s testSize) {
	t.Helper()
	for i, x := range b.bins {
		if len(x.probabilities) < s.minPerBin {
			t.Errorf("bin %d has %d placements, want at least %d", i+1, len(x.probabilities), s.minPerBin)
		}
	}
	if b.possibleNodes < 2*s.placements {
		t.Errorf("%d placements had only %d possible nodes in total, so nearly every placement was certain", s.placements, b.possibleNodes)
	}
}

// placement is one replacement with the predicted probability of its node group. hit is true if the pod landed in the
// group.
type placement struct {
	victim, from, landed string
	probabilities        map[string]float64
	groupProbability     float64
	hit                  bool
}

// testSize defines the size of the test. If a cluster has at most 100 nodes, the scheduler evaluates all of them, so a
// landing on a node with probability 0 is an error. On larger clusters, the scheduler evaluates a sample of the nodes.
// Parallel workers take the sample, so its end is not exactly predictable.
type testSize struct{ nodes, apps, podsPerApp, placements, minPerBin, maxUnpredicted int }

// TestWrongOddsFallOutside checks that 120 events are enough to detect probabilities that are wrong by 0.15, and that
// correct probabilities pass.
func TestWrongOddsFallOutside(t *testing.T) {
	for _, c := range []struct {
		truth float64
		want  int
	}{{0.5, 0}, {0.65, 1}, {0.35, 1}} {
		var b probabilityBins
		for i := range 120 {
			b.add(placement{groupProbability: 0.5, hit: float64(i) < 120*c.truth, probabilities: map[string]float64{"n1": 0.5, "n2": 0.5}})
		}
		if got := b.outsideInterval(); len(got) != c.want {
			t.Errorf("predicted 0.5, true frequency %.2f: bins outside %v, want %d", c.truth, got, c.want)
		}
	}
}
