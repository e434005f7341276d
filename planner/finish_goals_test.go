package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestLimitedPlansFinishGoals: each of ten workloads needs two moves, and one pod of each may be in flight. The pass
// allows ten evictions, so it can meet five goals.
func TestLimitedPlansFinishGoals(t *testing.T) {
	var objects strings.Builder
	objects.WriteString("base: three-nodes\nobjects:\n- {kind: Deployment, metadata: {name: db}, requests: {cpu: \"3\", memory: 3Gi}, pods: [2 on n1]}\n")
	for i := range 10 {
		fmt.Fprintf(&objects, "- {kind: Deployment, metadata: {name: web-%d}, requests: {cpu: 50m, memory: 16Mi}, pods: [4 on n1, 1 on n2, 1 on n3]}\n", i)
	}
	s := snapshotOf(t, objects.String())
	for limits, own := range map[string]string{"{perPass: 10, %s}": "", "{perPass: unlimited, %s}": ", limits: {perPass: 10}"} {
		conf := must.Get(config.Load("c", []byte(head+"limits: "+fmt.Sprintf(limits, "perNode: unlimited, perNamespace: unlimited, perOwner: unlimited")+
			"\nevictor: {inFlight: {total: 50, perNode: 50, perOwner: 1}}\n"+
			"strategies:\n  zones: {type: ZoneSpread, schedule: '@hourly'"+own+"}\n")))(t)
		p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
		met := 0
		for _, g := range p.Goals {
			if g.Excess > 0 && p.After.Excess[g.ID] == 0 {
				met++
			}
		}
		if len(p.Moves) != 10 || met != 5 {
			t.Errorf("%s: %d moves meet %d of %d goals, want 10 moves that meet 5 of 10:\n%s", limits, len(p.Moves), met, len(p.Goals), formatPlan(p))
		}
	}
}

// TestGoalAboveTheLimitsKeepsNoEvictions: the goal of aaa needs more evictions than the pass
// allows, and the goals of ten other workloads need two each. The plan meets some of these, and
// does not spend the pass on aaa.
func TestGoalAboveTheLimitsKeepsNoEvictions(t *testing.T) {
	var objects strings.Builder
	objects.WriteString("base: three-nodes\nobjects:\n- {kind: Deployment, metadata: {name: db}, requests: {cpu: \"2\", memory: 2Gi}, pods: [1 on n1]}\n")
	objects.WriteString("- {kind: Deployment, metadata: {name: aaa}, requests: {cpu: 10m, memory: 16Mi}, pods: [20 on n1, 1 on n2, 1 on n3]}\n")
	for i := range 10 {
		fmt.Fprintf(&objects, "- {kind: Deployment, metadata: {name: web-%d}, requests: {cpu: 50m, memory: 16Mi}, pods: [4 on n1, 1 on n2, 1 on n3]}\n", i)
	}
	s := snapshotOf(t, objects.String())
	conf := must.Get(config.Load("c", []byte(head+"limits: {perPass: 10, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited}\n"+
		"evictor: {inFlight: {total: 50, perNode: 50, perOwner: 1}}\nstrategies:\n  zones: {type: ZoneSpread, schedule: '@hourly'}\n")))(t)
	p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	met := 0
	for _, g := range p.Goals {
		if g.Excess > 0 && p.After.Excess[g.ID] == 0 {
			met++
		}
	}
	if len(p.Moves) != 10 || met < 3 {
		t.Errorf("%d moves meet %d of %d goals, want 10 moves that meet at least 3:\n%s", len(p.Moves), met, len(p.Goals), formatPlan(p))
	}
}
