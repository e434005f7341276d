package planner_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/work"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/record"
)

// TestScenarios compares the plan for each scenario with want.plan, including every rejection.
func TestScenarios(t *testing.T) {
	all := scenario.All(t)
	if len(all) < 30 {
		t.Errorf("%d scenarios, want at least 30", len(all))
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			if s.Prose == "" {
				t.Error("the scenario has no description")
			}
			p := planScenario(t, s)
			checkObjects(t, p)
			got := formatPlan(p)
			if golden.Update() {
				s.SetWant(t, got)
				return
			}
			if d := cmp.Diff(s.Want, got); d != "" {
				t.Errorf("%s\nthe plan differs (-want +got):\n%s", s.Prose, d)
			}
		})
	}
}

// TestRedactedScenarios checks that a redacted snapshot gives the same plan, including every rejection. Inputs lose the
// details of their problems.
func TestRedactedScenarios(t *testing.T) {
	input := regexp.MustCompile(`(?m)^input .*\n`)
	for _, s := range scenario.All(t) {
		t.Run(s.Name, func(t *testing.T) {
			if d := cmp.Diff(input.ReplaceAllString(s.Want, ""), input.ReplaceAllString(formatPlan(planScenarioWith(t, s, cluster.Redact(s.Objects(t)))), "")); d != "" {
				t.Errorf("the plan of the redacted snapshot differs (-want +got):\n%s", d)
			}
		})
	}
}

// openScenario returns the snapshot, the state and the configuration of a scenario.
func openScenario(t *testing.T, s *scenario.Scenario, changes ...string) (*cluster.Snapshot, plan.PlannerState, *config.Config) {
	t.Helper()
	return openScenarioWith(t, s, s.Objects(t, changes...))
}

// openScenarioWith is openScenario with other objects.
func openScenarioWith(t *testing.T, s *scenario.Scenario, objects *cluster.Objects) (*cluster.Snapshot, plan.PlannerState, *config.Config) {
	t.Helper()
	snapshot := must.Get(cluster.New(objects))(t)
	conf := must.Get(config.Load("config.yaml", s.Config))(t)
	st := must.Get(plan.ReadPlannerState(objects.PlannerState))(t)
	return snapshot, st, conf
}

// planScenario returns the plan for a scenario after some changes to its objects. The plan lists every rejection.
func planScenario(t *testing.T, s *scenario.Scenario, changes ...string) plan.Plan {
	t.Helper()
	return planScenarioWith(t, s, s.Objects(t, changes...))
}

// planScenarioWith is planOf with these objects instead of those of the scenario.
func planScenarioWith(t *testing.T, s *scenario.Scenario, objects *cluster.Objects) plan.Plan {
	t.Helper()
	snapshot, st, conf := openScenarioWith(t, s, objects)
	opts := conf.PlannerOptions()
	opts.SamplesPerCode = -1
	p := planner.New(opts)
	snapshot = must.Get(p.PredictHints(snapshot))(t)
	snapshot.Work = work.New(nil, objects.StoppedAt)
	return p.Plan(snapshot, st, controller.Goals(snapshot, conf.BuildStrategies(), s.Due), snapshot.TakenAt)
}

// formatPlan formats a plan as want.plan does.
func formatPlan(p plan.Plan) string {
	var b strings.Builder
	for _, r := range p.NothingJudged {
		fmt.Fprintf(&b, "nothing judged: %s: %s\n", r.Code, r.Message)
	}
	for _, h := range p.Blocks {
		fmt.Fprintf(&b, "held: everything: %s: %s\n", h.Reason.Code, h.Reason.Message)
	}
	for _, in := range p.Inputs {
		for _, problem := range in.Problems {
			fmt.Fprintf(&b, "input %s: %s\n", in.Source, problem)
		}
	}
	for _, h := range p.Pressure {
		fmt.Fprintf(&b, "pressure hint on %s: %s", h.Node, h.State)
		if h.Predicted {
			b.WriteString(" (predicted)")
		}
		if h.RequiredSamples > 0 {
			fmt.Fprintf(&b, " %d of %d", h.Samples, h.RequiredSamples)
		}
		if h.Rule != "" {
			fmt.Fprintf(&b, " by %s at %v", h.Rule, h.Value)
		}
		if h.ForeignHint != "" {
			fmt.Fprintf(&b, " (%s)", h.ForeignHint)
		}
		b.WriteString("\n")
	}
	for _, g := range p.Goals {
		subject := g.Subject.String()
		if g.Group != "" {
			subject += " (" + g.Group + ")"
		}
		fmt.Fprintf(&b, "goal %s %s %s: excess %v -> %v\n", g.ID, g.Kind, subject, g.Excess, p.After.Excess[g.ID])
	}
	for _, m := range p.Moves {
		if m.Removal != "" {
			fmt.Fprintf(&b, "move %d wave %d: %s on %s removed by %s for %s: %s: %s\n", m.Step, m.Wave, m.Pod, m.From, m.Removal,
				strings.Join(m.Goals, ","), m.Reason.Code, m.Reason.Message)
			continue
		}
		steer := ""
		if m.Steered() {
			steer = ", steered by " + m.Steer
		}
		if m.WithoutPlace() {
			fmt.Fprintf(&b, "move %d wave %d: %s leaves %s, no place predicted (good %v, Pending %v) for %s: %s: %s\n", m.Step, m.Wave, m.Pod, m.From,
				m.Confidence, m.PendingProbability, strings.Join(m.Goals, ","), m.Reason.Code, m.Reason.Message)
			continue
		}
		fmt.Fprintf(&b, "move %d wave %d: %s %s -> %s (good %v%s) for %s: %s: %s\n", m.Step, m.Wave, m.Pod, m.From, m.To,
			m.Confidence, steer, strings.Join(m.Goals, ","), m.Reason.Code, m.Reason.Message)
	}
	for _, h := range p.Hints {
		fmt.Fprintf(&b, "hints wave %d: %s on %s\n", h.Wave, h.Kind, strings.Join(h.Nodes, ", "))
	}
	for _, r := range p.Rejections.Samples {
		fmt.Fprintf(&b, "stays: %s on %s: %s: %s\n", r.Pod, r.Node, r.Reason.Code, r.Reason.Message)
	}
	for _, st := range p.Schedulers {
		fmt.Fprintf(&b, "scheduler %s: %d pods, bindings seen %d, predicted %d, came true %d, trusted %v\n", st.Name, st.Pods,
			st.Seen, st.Predicted, st.Hits, st.Trusted)
	}
	for _, st := range p.Strategies {
		if st.Settings != nil {
			moves := slices.DeleteFunc(slices.Clone(p.Moves), func(m plan.Move) bool { return m.Strategy != st.Name })
			fmt.Fprintf(&b, "strategy %s: %d of %d moves are for it\n", st.Name, len(moves), len(p.Moves))
		}
		if st.Goals > 0 && !st.Due {
			fmt.Fprintf(&b, "strategy %s: %d of %d goals unmet, not asked for\n", st.Name, st.Unmet, st.Goals)
		}
	}
	if p.SearchLimitReached != "" {
		fmt.Fprintf(&b, "cut short: %s\n", p.SearchLimitReached)
	}
	fmt.Fprintf(&b, "bound: %d evictions, residual %v\n", p.Bound.MinEvictions, p.Bound.Residual)
	if p.Bound.MinForPlan != p.Bound.MinEvictions {
		fmt.Fprintf(&b, "bound of this plan: %d evictions\n", p.Bound.MinForPlan)
	}
	for _, id := range slices.Sorted(maps.Keys(p.Bound.ResidualByGoal)) {
		fmt.Fprintf(&b, "stays of %s: %v\n", id, p.Bound.ResidualByGoal[id])
	}
	for _, h := range p.Bound.UnmetGoals {
		fmt.Fprintf(&b, "held of %s: %v by %s: %s\n", h.Goal, h.Excess, h.Reason, h.Detail)
	}
	for _, x := range p.Bound.BlockedBy {
		fmt.Fprintf(&b, "blocked: %s: %s\n", x.Code, x.Detail)
	}
	for _, of := range p.Proposals {
		fmt.Fprintf(&b, "proposal, mode %s:\n", of.Mode)
		of.Plan.Inputs, of.Plan.Pressure, of.Plan.Schedulers, of.Plan.Blocks = nil, nil, nil, nil // those of the plan
		b.WriteString("  " + strings.ReplaceAll(strings.TrimSpace(formatPlan(of.Plan)), "\n", "\n  ") + "\n")
	}
	return b.String()
}

// checkObjects checks that the plan and its proposals are valid objects, which have what their execution needs.
func checkObjects(t *testing.T, p plan.Plan) {
	t.Helper()
	for _, o := range record.PlanObjects(&p) {
		if err := objectstest.Validate(objectstest.Schema(t, o.Kind), o); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
	o := v1alpha1.RebalancePlan{Spec: record.Spec(&p, v1alpha1.ModeApprove)}
	emptied := func(p plan.Plan) (out []string) {
		for _, g := range p.Goals {
			if g.Kind == plan.NodeEmpty && p.After.Excess[g.ID] == 0 {
				leaving := slices.SortedFunc(slices.Values(g.Leaving), func(a, b plan.PodRef) int { return strings.Compare(a.String(), b.String()) })
				out = append(out, fmt.Sprint(g.ID, g.Subject, leaving))
			}
		}
		return out
	}
	if d := cmp.Diff(emptied(p), emptied(record.PlanOf(&o))); d != "" {
		t.Errorf("the stored plan empties other nodes, or lacks moves of them (-plan +stored):\n%s", d)
	}
}
