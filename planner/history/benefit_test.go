package history

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/plan"
)

var (
	benefit = DefaultBenefit()
	known   = []string{"zones", "hot"}
)

func gain(n int, foretold, realised float64) map[string]Gain {
	return map[string]Gain{"zones": {Evictions: n, Foretold: foretold, Realised: realised}}
}

// after makes so many passes of one gain, a minute apart.
func after(passes int, g map[string]Gain) (plan.PlannerState, time.Time) {
	var st plan.PlannerState
	at := noon
	for range passes {
		at = at.Add(time.Minute)
		st = AddBenefit(st, g, known, at, benefit)
	}
	return st, at
}

func TestAStrategyThatDoesNotPayOffIsHeld(t *testing.T) {
	for _, c := range []struct {
		name   string
		passes int
		gain   map[string]Gain
		held   bool
	}{
		{"as foretold", 40, gain(1, .5, .5), false},
		{"a quarter of it", 40, gain(1, .5, .125), false},
		{"less", 40, gain(1, .5, .12), true},
		{"worse than before", 40, gain(1, .5, -.2), true},
		{"too few evictions to say", 9, gain(1, .5, 0), false},
		{"decay keeps 10 below 10", 10, gain(1, .5, 0), false},
		{"13 weigh 10", 13, gain(1, .5, 0), true},
		{"one large pass", 1, gain(10, 5, 0), true},
		{"nothing was foretold", 40, gain(1, 0, -1), false},
		{"no evictions", 40, gain(0, .5, 0), false},
	} {
		st, at := after(c.passes, c.gain)
		r, held := Held(st, "zones", at, benefit)
		if held != c.held || held && r.Code != plan.StrategyIneffective {
			t.Errorf("%s: held %v: %v (%+v)", c.name, held, r, st.Benefits)
		}
		if holds := HeldStrategies(st, at, benefit); (len(holds) == 1) != c.held {
			t.Errorf("%s: holds %+v", c.name, holds)
		}
	}
}

func TestAHoldEndsAndItsAccountBeginsAnew(t *testing.T) {
	st, at := after(1, gain(10, 5, 0))
	until := at.Add(24 * time.Hour)
	if b := st.Benefits["zones"]; !b.SuspendedUntil.Equal(until) {
		t.Fatalf("%+v, want until %s", b, until)
	}
	h := HeldStrategies(st, at, benefit)[0]
	if !h.Since.Equal(at) || !h.Until.Equal(until) || h.Strategy != "zones" {
		t.Errorf("hold %+v", h)
	}
	// More evidence while it is held does not make the hold longer.
	st = AddBenefit(st, gain(1, .5, 0), known, at.Add(time.Hour), benefit)
	if b := st.Benefits["zones"]; !b.SuspendedUntil.Equal(until) {
		t.Errorf("longer: %+v", b)
	}
	if _, held := Held(st, "zones", until.Add(-1), benefit); !held {
		t.Error("it ends too early")
	}
	if _, held := Held(st, "zones", until, benefit); held {
		t.Error("it does not end")
	}
	st = AddBenefit(st, gain(1, .5, .5), known, until, benefit)
	if b := st.Benefits["zones"]; b != (plan.Benefit{Evictions: 1, Predicted: .5, Realised: .5}) {
		t.Errorf("the old account counts on: %+v", b)
	}
}

func TestOldEvictionsCountForLess(t *testing.T) {
	st, at := after(200, gain(1, .5, 0))
	st.Benefits["zones"] = plan.Benefit{Evictions: st.Benefits["zones"].Evictions, Predicted: st.Benefits["zones"].Predicted} // as if never held
	if b := st.Benefits["zones"]; math.Abs(b.Evictions-29.36) > .1 {
		t.Errorf("one by one they add up to %v, want 29.36", b.Evictions)
	}
	// Twenty good ones later the bad ones weigh half.
	for range 20 {
		st = AddBenefit(st, gain(1, .5, .5), known, at, benefit)
	}
	if b := st.Benefits["zones"]; math.Abs(b.Realised/b.Predicted-.5) > .01 {
		t.Errorf("%+v: %v, want half", b, b.Realised/b.Predicted)
	}
}

func TestAccountsAreBounded(t *testing.T) {
	st := plan.PlannerState{Benefits: map[string]plan.Benefit{"gone": {Evictions: 3}, "hot": {Evictions: 4, Predicted: 1, Realised: 1}}}
	gains := gain(1, .5, .5)
	gains["unheard-of"] = Gain{Evictions: 1, Foretold: 1}
	gains["hot"] = Gain{Evictions: 1, Foretold: math.NaN()}
	st = AddBenefit(st, gains, known, noon, benefit)
	if len(st.Benefits) != 2 || st.Benefits["hot"].Evictions != 4 || st.Benefits["zones"].Evictions != 1 {
		t.Errorf("%+v", st.Benefits)
	}
	if st = AddBenefit(st, nil, nil, noon, benefit); st.Benefits != nil {
		t.Errorf("no strategy is left: %+v", st.Benefits)
	}
}

func TestFloorOfNothingHoldsNobody(t *testing.T) {
	off := benefit
	off.Floor = 0
	st := AddBenefit(plan.PlannerState{}, gain(100, 50, -50), known, noon, off)
	if !st.Benefits["zones"].SuspendedUntil.IsZero() {
		t.Errorf("%+v", st.Benefits)
	}
	// Nor one that was held before the floor was taken away.
	st, at := after(1, gain(10, 5, 0))
	if r, held := Held(st, "zones", at, off); held {
		t.Error(r)
	}
}

func TestAddBenefitLeavesItsInputAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st plan.PlannerState
		for i := range rapid.IntRange(1, 40).Draw(t, "passes") {
			before, was := fmt.Sprintf("%+v", st), st
			g := gain(rapid.IntRange(0, 40).Draw(t, "n"), rapid.Float64Range(0, 20).Draw(t, "foretold"), rapid.Float64Range(-20, 20).Draw(t, "realised"))
			st = AddBenefit(st, g, known, noon.Add(time.Duration(i)*time.Hour), benefit)
			if got := fmt.Sprintf("%+v", was); got != before {
				t.Fatalf("changed in place:\n%s\n%s", before, got)
			}
			b := st.Benefits["zones"]
			if b.Evictions < 0 || b.Predicted < 0 || !b.SuspendedUntil.IsZero() && b.Evictions < 1 {
				t.Fatalf("%+v", b)
			}
		}
	})
}
