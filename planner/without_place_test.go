package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// unplaceable has one pod of each of two workloads on a node whose label has changed. No node takes their replacements.
const unplaceable = `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: 500m, memory: 256Mi}, spec: {template: {spec: {nodeSelector: {disk: ssd}}}}, pods: [1 on n1]}
- {kind: Deployment, metadata: {name: api}, requests: {cpu: 500m, memory: 256Mi}, spec: {template: {spec: {nodeSelector: {disk: ssd}}}}, pods: [1 on n2]}
`

// landingConfig returns a configuration with one strategy about node affinity, and more lines.
func landingConfig(t *testing.T, strategy, more string) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(head+"limits: {perNamespace: unlimited, perOwner: unlimited}\n"+more+
		"\nstrategies:\n  labels: {type: NodeAffinity, schedule: '@hourly'"+strategy+"}\n")))(t)
	return conf
}

func planWith(t *testing.T, conf *config.Config, s *cluster.Snapshot) plan.Plan {
	t.Helper()
	opts := conf.PlannerOptions()
	opts.SamplesPerCode = -1
	p := planner.New(opts).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	checkObjects(t, p)
	return p
}

const anyReplicas = "guards: {minReplicas: 1}"

// TestLandingRule checks which setting decides whether a strategy needs a predicted place.
func TestLandingRule(t *testing.T) {
	s := snapshotOf(t, unplaceable)
	for _, c := range []struct {
		strategy, more string
		moves          int
		left           plan.Code
	}{
		{"", anyReplicas, 0, plan.NoTargetFits},
		{", landing: required", anyReplicas, 0, plan.NoTargetFits},
		{", landing: notRequired", anyReplicas, 2, ""},
		{", landing: notRequired", "guards: {minReplicas: 2}", 0, plan.TooFewReplicas},
		{", landing: notRequired, limits: {perPass: 1}", anyReplicas, 1, plan.LimitPerPass},
		{", landing: notRequired", anyReplicas + "\nevictor: {breaker: {maxPendingPods: 1}}", 1, plan.WaitsForNextPass},
		{", landing: notRequired", anyReplicas + "\nevictor: {breaker: {maxPendingPods: 0}}", 0, plan.WaitsForNextPass},
		{", landing: notRequired", anyReplicas + "\nevictor: {inFlight: {total: 1}}", 1, plan.WaitsForNextPass},
		{", landing: notRequired", anyReplicas + "\nwindows: {deny: [{schedule: '0 0 * * *', duration: 24h}]}", 0, plan.OutsideWindow},
	} {
		p := planWith(t, landingConfig(t, c.strategy, c.more), s)
		if len(p.Moves) != c.moves || p.Rejections.Counts[c.left] != 2-c.moves || p.Bound.MinForPlan > c.moves ||
			len(p.Bound.ResidualByGoal) > 0 && strings.Contains(c.strategy, "notRequired") && c.left == "" {
			t.Errorf("%q %q: the plan is\n%s", c.strategy, c.more, formatPlan(p))
		}
		for _, m := range p.Moves {
			if !m.WithoutPlace() || m.To != "" || m.Wave != 1 || m.PendingProbability != 1 {
				t.Errorf("move %+v", m)
			}
		}
	}
}

// TestUnknownPlacementStays checks that a pod stays if its placement cannot be predicted, although it needs no place.
func TestUnknownPlacementStays(t *testing.T) {
	conf := landingConfig(t, ", landing: notRequired", anyReplicas)
	for name, text := range map[string]string{
		"another scheduler": strings.ReplaceAll(unplaceable, "spec: {nodeSelector", "spec: {schedulerName: other, nodeSelector"),
		"another server":    "serverVersion: \"1.60\"\n" + unplaceable,
	} {
		p := planWith(t, conf, snapshotOf(t, text))
		if len(p.Moves) != 0 || p.Rejections.Counts[plan.PlacementUnknown] != 2 {
			t.Errorf("%s: the plan is\n%s", name, formatPlan(p))
		}
	}
}

// TestRecheckWithoutPlace checks that a move without a predicted place is executed only while its
// strategy needs none, its wave has no other moves, and its replacement would not land badly.
func TestRecheckWithoutPlace(t *testing.T) {
	s := snapshotOf(t, unplaceable)
	conf := landingConfig(t, ", landing: notRequired", anyReplicas)
	p := planWith(t, conf, s)
	forged := func(change func(m []plan.Move)) plan.Plan {
		out := p
		out.Moves = slices.Clone(p.Moves)
		change(out.Moves)
		return out
	}
	labeled := "- {kind: Node, metadata: {name: n3, labels: {disk: ssd}}}\n"
	for _, c := range []struct {
		name string
		s    *cluster.Snapshot
		conf *config.Config
		plan plan.Plan
		ok   int
		why  string
	}{
		{"unchanged", s, conf, p, 2, ""},
		{"a place appears", snapshotOf(t, unplaceable+labeled), conf, p, 2, ""},
		{"the strategy requires a place now", s, landingConfig(t, "", anyReplicas), p, 0, "strategy labels requires a predicted place (landing: required)"},
		{"the goal is met", snapshotOf(t, unplaceable+"- {kind: Node, metadata: {name: n2, labels: {disk: ssd}}}\n"), conf, p, 1, "no unmet goal"},
		{"forged as a move with a place", s, conf, forged(func(m []plan.Move) { m[0].Landing = "" }), 1, "fits on no other node"},
		{"forged with a node", s, conf, forged(func(m []plan.Move) { m[0].To = "n3" }), 1, "has a node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			goals := controller.Goals(c.s, c.conf.BuildStrategies(), nil)
			ok, dropped := planner.New(c.conf.PlannerOptions()).Recheck(c.s, plan.PlannerState{}, goals, c.plan, 1, c.s.TakenAt)
			if len(ok) != c.ok || len(dropped) != 2-c.ok || len(dropped) > 0 && !strings.Contains(dropped[0].Reason.Message, c.why) {
				t.Errorf("moves %+v, dropped %+v", ok, dropped)
			}
			for _, m := range ok {
				want := []string(nil)
				if c.name == "a place appears" {
					want = []string{"n3"}
				}
				if m.Pod.Name != "web-6c8f-00" && m.Pod.Name != "api-6c8f-00" || m.To != "" || c.ok == 2 && want != nil && !slices.Contains(m.AcceptableNodes, "n3") {
					t.Errorf("move %+v", m)
				}
			}
		})
	}
}

// TestRecheckOfMixedWave checks that moves with and without a predicted place are never executed in
// one wave, whatever a person has written into a saved plan.
func TestRecheckOfMixedWave(t *testing.T) {
	s := snapshotOf(t, unplaceable+"- {kind: Deployment, metadata: {name: busy}, requests: {cpu: \"4\", memory: 256Mi}, pods: [2 on n3]}\n")
	conf := landingConfig(t, ", landing: notRequired}\n  hot: {type: NodeLoad, schedule: '@hourly', args: {target: {cpu: 0.5}}", anyReplicas)
	p := planWith(t, conf, s)
	if len(p.Moves) != 3 || p.Moves[0].WithoutPlace() || p.Moves[0].Wave != 1 || p.Moves[1].Wave != 2 || p.Moves[2].Wave != 2 {
		t.Fatalf("the plan is\n%s", formatPlan(p))
	}
	for i := range p.Moves {
		p.Moves[i].Wave = 1
	}
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	for _, order := range [][]int{{0, 1, 2}, {1, 2, 0}} {
		mixed := p
		mixed.Moves = nil
		for _, i := range order {
			mixed.Moves = append(mixed.Moves, p.Moves[i])
		}
		ok, dropped := planner.New(conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, goals, mixed, 1, s.TakenAt)
		for _, m := range ok {
			if m.WithoutPlace() != ok[0].WithoutPlace() {
				t.Errorf("order %v: moves %+v", order, ok)
			}
		}
		if len(ok)+len(dropped) != 3 || len(ok) == 0 || !strings.Contains(dropped[0].Reason.Message, "moves with and without a predicted place") {
			t.Errorf("order %v: moves %+v, dropped %+v", order, ok, dropped)
		}
	}
}

// TestProposalAfterMoveWithoutPlace checks that no proposal is planned into the room that such a move leaves.
func TestProposalAfterMoveWithoutPlace(t *testing.T) {
	s := snapshotOf(t, `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "6", memory: 256Mi}, spec: {template: {spec: {nodeSelector: {disk: ssd}}}}, pods: [1 on n1]}
- {kind: Deployment, metadata: {name: big}, requests: {cpu: "6", memory: 256Mi}, pods: [1 on n2, 1 on n3]}
- {kind: Deployment, metadata: {name: api}, requests: {cpu: "4", memory: 256Mi}, pods: [1 on n2]}
- {kind: Deployment, metadata: {name: job}, requests: {cpu: "5", memory: 256Mi}, pods: [1 on n3]}
`)
	conf := landingConfig(t, ", landing: notRequired}\n  hot: {type: NodeLoad, schedule: '@hourly', mode: dryRun, args: {target: {cpu: 0.95}}", anyReplicas)
	p := planWith(t, conf, s)
	if len(p.Moves) != 1 || !p.Moves[0].WithoutPlace() || len(p.Proposals) != 1 {
		t.Fatalf("the plan is\n%s", formatPlan(p))
	}
	for _, m := range p.Proposals[0].Plan.Moves {
		if m.To == "n1" {
			t.Errorf("move %+v goes to n1, whose room is not free for certain", m)
		}
	}
}

// TestExplainWithoutPlace checks what explain says about a pod that moves, and about one that has to wait.
func TestExplainWithoutPlace(t *testing.T) {
	s := snapshotOf(t, unplaceable)
	conf := landingConfig(t, ", landing: notRequired", anyReplicas+"\nevictor: {inFlight: {total: 1}}")
	e := planner.New(conf.PlannerOptions()).Explain(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	moved, waits := 0, 0
	for i := range s.Pods {
		x := e.Pod(cluster.PodID(i)).Pods[0]
		if x.Landing.Rule != plan.LandingNotRequired || x.Landing.Verdict.Code != "" {
			t.Errorf("landing %+v", x.Landing)
		}
		if x.Move != nil && x.Move.WithoutPlace() {
			moved++
		}
		if x.Verdict.Code == plan.WaitsForNextPass {
			waits++
		}
	}
	if moved != 1 || waits != 1 {
		t.Errorf("%d pods move and %d wait, want 1 and 1", moved, waits)
	}
}
