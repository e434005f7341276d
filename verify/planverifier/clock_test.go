package planverifier_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// nightWindows contains short windows around the hour of a daylight-saving change.
var nightWindows = []string{
	"deny: [{schedule: \"0 2 * * *\", duration: 1h}]",
	"deny: [{schedule: \"15 2 * * *\", duration: 6h}]",
	"deny: [{schedule: \"30 1 * * *\", duration: 40m}]",
	"allow: [{schedule: \"0 2 * * *\", duration: 1h}]",
	"allow: [{schedule: \"30 1 * * *\", duration: 3h}], deny: [{schedule: \"*/20 2 * * *\", duration: 5m}]",
}

// TestPlansInNightsWhenClocksAreMoved plans during the four nights of 2026 with a daylight-saving
// change in Berlin or on Lord Howe Island. Every plan must respect the windows at each minute.
func TestPlansInNightsWhenClocksAreMoved(t *testing.T) {
	t.Parallel()
	plans, moves, closed := 0, 0, 0
	for i, night := range simulation.Nights() {
		zone := "Europe/Berlin"
		if i > 1 {
			zone = "Australia/Lord_Howe"
		}
		for _, windows := range nightWindows {
			for at := time.Duration(0); at < 5*time.Hour; at += 17 * time.Minute {
				r := rand.New(rand.NewPCG(uint64(i), uint64(at)))
				o := simulation.MixedAt(r, night.Add(at))
				p, rules := makePlanFor(t, o, "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ntimeZone: "+zone+
					"\nstrategies: {hot: {type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: 0.2}}}}\nwindows: {"+windows+"}\n",
					o.TakenAt, plan.PlannerState{})
				plans++
				moves += len(p.Moves)
				if p.Rejections.Counts["OutsideWindow"] > 0 {
					closed++
				}
				for _, v := range planverifier.Check(o, rules, p, o.TakenAt) {
					t.Errorf("%s at %s in %s: step %d, pod %s: %s: %s", windows, o.TakenAt, zone, v.Step, v.Pod, v.Code, v.Detail)
				}
			}
		}
	}
	t.Logf("%d plans, %d of them with closed windows, %d moves", plans, closed, moves)
	if closed < plans/4 || moves < plans {
		t.Errorf("%d plans with %d moves and %d closed windows are too few for this test", plans, moves, closed)
	}
}
