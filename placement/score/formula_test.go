package score

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/google/go-cmp/cmp"
)

// TestPacked checks worked examples of the TargetLoadPacking formula.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		p, target float64
		want      int64
	}{{30, 40, 85}, {60, 40, 27}, {0, 40, 40}, {40, 40, 100}, {100, 40, 0}, {100.1, 40, 0}, {70, 80, 98}, {90, 80, 40}} {
		if got := packingScore(c.p, c.target); got != c.want {
			t.Errorf("p %v, target %v: %d, want %d", c.p, c.target, got, c.want)
		}
	}
}

func TestLeastAllocated(t *testing.T) {
	for _, c := range []struct{ cpu, cpuCap, mem, memCap, want int64 }{
		{0, 1000, 0, 1000, 100},
		{900, 1000, 500, 1000, 30},
		{999, 1000, 0, 1000, 50},  // 0.1 % is rounded down to 0
		{1500, 1000, 0, 1000, 50}, // over the top counts as none free
		{500, 1000, 0, 0, 50},     // a resource the node does not have is left out
		{0, 0, 0, 0, 0},
	} {
		if got := leastAllocated(c.cpu, c.cpuCap, c.mem, c.memCap); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestBalance(t *testing.T) {
	for _, c := range []struct{ cpu, cpuCap, mem, memCap, want int64 }{
		{500, 1000, 500, 1000, 100},
		{1000, 1000, 0, 1000, 50},
		{3000, 1000, 1000, 1000, 100}, // fractions are capped at 1
		{300, 1000, 100, 1000, 90},
		{300, 1000, 0, 0, 100},
	} {
		if got := Balance(c.cpu, c.cpuCap, c.mem, c.memCap); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestNormalise(t *testing.T) {
	for _, c := range []struct {
		in, want []int64
		reverse  bool
	}{
		{[]int64{0, 1, 3}, []int64{0, 33, 100}, false},
		{[]int64{0, 1, 3}, []int64{100, 67, 0}, true},
		{[]int64{0, 0}, []int64{0, 0}, false},
		{[]int64{0, 0}, []int64{100, 100}, true},
	} {
		Normalise(c.in, scheduler.MaxScore, c.reverse)
		if diff := cmp.Diff(c.want, c.in); diff != "" {
			t.Error(diff)
		}
	}
}
