package landings

import (
	"fmt"
	"strings"
	"testing"
)

// bins group placements by the predicted probability of their node group.
type bins struct {
	at       [5]bin
	possible int // number of possible nodes, summed over placements
}

type bin struct {
	odds []float64
	hits int
}

func (b *bins) add(p placed) {
	x := &b.at[min(int(p.group*float64(len(b.at))), len(b.at)-1)]
	x.odds = append(x.odds, p.group)
	if p.hit {
		x.hits++
	}
	b.possible += len(p.odds)
}

const alpha = 0.01 // for 99 % intervals

func (b *bins) table() string {
	var out strings.Builder
	fmt.Fprintln(&out, "predicted    placements  predicted hits 99 % interval  hits")
	for i, x := range b.at {
		mean := 0.0
		for _, p := range x.odds {
			mean += p
		}
		low, high := interval(x.odds, alpha)
		fmt.Fprintf(&out, "%.1f to %.1f   %10d  %13.1f  %5d to %4d  %5d\n",
			float64(i)/float64(len(b.at)), float64(i+1)/float64(len(b.at)), len(x.odds), mean, low, high, x.hits)
	}
	return out.String()
}

// outside returns the bins with too few or too many hits.
func (b *bins) outside() (out []string) {
	for i, x := range b.at {
		if low, high := interval(x.odds, alpha); x.hits < low || x.hits > high {
			out = append(out, fmt.Sprintf("%.1f to %.1f", float64(i)/float64(len(b.at)), float64(i+1)/float64(len(b.at))))
		}
	}
	return out
}

// check fails if the placements are too few or too certain to test the predictions.
func (b *bins) check(t *testing.T, s trial) {
	t.Helper()
	for i, x := range b.at {
		if len(x.odds) < s.leastPerBin {
			t.Errorf("bin %d has %d placements, want at least %d", i+1, len(x.odds), s.leastPerBin)
		}
	}
	if b.possible < 2*s.placements {
		t.Errorf("%d placements had only %d possible nodes in total, so nearly every landing was certain", s.placements, b.possible)
	}
}
