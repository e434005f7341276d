package planner_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// plannerWithWindows returns a planner with two windows: until 08:00 one without limits is open,
// and from 07:00 on one that has limits.
func plannerWithWindows(t *testing.T, limits string) *planner.Planner {
	t.Helper()
	conf := must.Get(config.Load("c", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"+
		"strategies:\n  zones: {type: ZoneSpread, schedule: \"0 * * * *\"}\n"+
		"guards: {maxUnavailableWithoutPDB: 5, minConfidence: 0.1}\nevictor: {inFlight: {perNode: 5, perOwner: 5}}\n"+
		"windows:\n  allow:\n  - {schedule: \"0 0 * * *\", duration: 8h}\n  - {schedule: \"0 7 * * *\", duration: 10h, limits: "+limits+"}\n")))(t)
	return planner.New(conf.PlannerOptions())
}

// TestRecheckAppliesTheLimitsOfTheOpenWindow: a plan was made while a window without limits was open. After that window
// has closed, the limits of the other window apply to the whole pass, with the evictions before.
func TestRecheckAppliesTheLimitsOfTheOpenWindow(t *testing.T) {
	s, _, goals, made := planTwoMoves(t, "{}")
	day := s.TakenAt.Truncate(24 * time.Hour)
	for _, c := range []struct {
		limits   string
		now      time.Duration
		reserved int // moves that the pass has executed before
		holds    int
		code     plan.Code
	}{
		{"{perPass: 1}", 7*time.Hour + 59*time.Minute, 0, 2, ""},
		{"{perPass: 1}", 8 * time.Hour, 0, 1, plan.LimitPerPass},
		{"{perPass: 1}", 8 * time.Hour, 1, 0, plan.LimitPerPass},
		{"{perPass: 2}", 8 * time.Hour, 1, 1, ""},
		{"{perOwner: 1}", 8 * time.Hour, 1, 0, plan.LimitPerOwner},
		{"{perHour: {owner: 1}}", 8 * time.Hour, 0, 1, plan.LimitPerHour},
		{"{perHour: {cluster: 1}}", 7*time.Hour + 59*time.Minute, 0, 2, ""},
	} {
		now, st, rest := day.Add(c.now), plan.PlannerState{}, made
		if c.reserved > 0 {
			st = history.Reserve(st, plan.OpenRun{RunID: "r"}, made.Moves[:c.reserved], now)
			st.Evictions = nil // only the limits per pass matter here
			rest.Moves = made.Moves[c.reserved:]
		}
		ok, dropped := plannerWithWindows(t, c.limits).Recheck(s, st, goals, rest, 1, now)
		if len(ok) != c.holds {
			t.Errorf("%s at %s after %d: %d moves remain, want %d; dropped %+v", c.limits, now.Format("15:04"), c.reserved, len(ok), c.holds, dropped)
			continue
		}
		for _, o := range dropped {
			if o.Reason.Code != c.code || o.Outcome != plan.Dropped {
				t.Errorf("%s at %s after %d: dropped %+v, want %s", c.limits, now.Format("15:04"), c.reserved, o, c.code)
			}
		}
	}
}

// TestAdmitAppliesTheLimitsOfTheOpenWindow: the limits of windows apply to a saved plan too.
func TestAdmitAppliesTheLimitsOfTheOpenWindow(t *testing.T) {
	s, _, _, made := planTwoMoves(t, "{}")
	day := s.TakenAt.Truncate(24 * time.Hour)
	p := plannerWithWindows(t, "{perPass: 1}")
	if out := p.CheckLimits(s, plan.PlannerState{}, made, day.Add(7*time.Hour)); len(out) != 0 {
		t.Errorf("before 08:00: %+v", out)
	}
	out := p.CheckLimits(s, plan.PlannerState{}, made, day.Add(9*time.Hour))
	if len(out) != 1 || out[0].Reason.Message != "windows.allow[1].limits.perPass allows 1 eviction; 1 planned already" {
		t.Errorf("at 09:00: %+v", out)
	}
}
