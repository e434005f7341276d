package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const hintedFirst = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perPass: %d, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.4}}}
`

// TestWhatLimitsAllowGoesToHintedNodesFirst: a plan spends its limit first on nodes with the pressure hint. If the
// plan reaches the limit with other moves, one of two conditions must hold: no more pods can leave hinted nodes after
// the moves off these nodes, or a plan for hinted nodes alone does not leave less excess on hinted nodes. No move
// ends on a hinted node. The search is not exhaustive: about one in 1,000 similar clusters fails this test.
func TestWhatLimitsAllowGoesToHintedNodesFirst(t *testing.T) {
	inNeed, spent := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		nodes, limit, share := 6+r.IntN(9), 1+r.IntN(8), 2+r.IntN(4)
		conf := must.Get(config.Load("c", fmt.Appendf(nil, hintedFirst, limit)))(t)
		o := simulation.Crowded(r, nodes, nodes, 8)
		for _, n := range o.Nodes {
			if r.IntN(share) == 0 {
				n.Labels["evenkeel.io/pressure"] = "true"
			}
		}
		s, all := planRandomCluster(t, o, conf)
		ours, others := splitMovesByHintedNode(s, all)
		if len(ours) > 0 {
			inNeed++
		}
		if len(all.Moves) == limit && len(others) > 0 {
			spent++
			alone, more := planForHintedNodes(t, o, conf), planForHintedNodes(t, simulation.WithReplacements(o, ours), conf)
			if got, want := remainingExcessOfHinted(s, all), remainingExcessOfHinted(s, alone); len(more.Moves) > 0 && got > want+1e-3 {
				t.Errorf("seed %d: %d of %d moves are for other goals, but %s could have left %s; remaining excess %.3f, with a plan for hinted nodes alone %.3f",
					seed, len(others), limit, more.Moves[0].Pod.Name, more.Moves[0].From, got, want)
			}
		}
		for _, m := range all.Moves {
			if isHinted(s, m.To) {
				t.Errorf("seed %d: %s moves to %s, which is hinted", seed, m.Pod.Name, m.To)
			}
		}
	}
	if inNeed < 50 || spent < 20 {
		t.Errorf("pods left hinted nodes in only %d clusters, and in %d of them other moves also used the limit", inNeed, spent)
	}
}

// planForHintedNodes plans only for the goals of hinted nodes. All other goals are constraints.
func planForHintedNodes(t *testing.T, o *cluster.Objects, conf *config.Config) plan.Plan {
	t.Helper()
	s := must.Get(cluster.New(o))(t)
	goals := controller.Goals(s, conf.BuildStrategies(), nil)
	for i := range goals {
		goals[i].Constraint = goals[i].Kind != plan.NodeBelow || !isHinted(s, goals[i].Subject.Name)
	}
	return planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
}

// splitMovesByHintedNode separates the moves that serve the goal of a hinted node from the others.
func splitMovesByHintedNode(s *cluster.Snapshot, p plan.Plan) (ours, others []plan.Move) {
	serves := map[string]bool{}
	for _, g := range p.Goals {
		serves[g.ID] = g.Kind == plan.NodeBelow && isHinted(s, g.Subject.Name)
	}
	for _, m := range p.Moves {
		if slices.ContainsFunc(m.Goals, func(id string) bool { return serves[id] }) {
			ours = append(ours, m)
		} else {
			others = append(others, m)
		}
	}
	return ours, others
}

func isHinted(s *cluster.Snapshot, node string) bool {
	return s.NodeByName(node).Object.Labels["evenkeel.io/pressure"] == "true"
}

// remainingExcessOfHinted sums, over the goals of hinted nodes, the share of the excess that the plan leaves.
func remainingExcessOfHinted(s *cluster.Snapshot, p plan.Plan) (sum float64) {
	for _, g := range p.Goals {
		if g.Kind == plan.NodeBelow && isHinted(s, g.Subject.Name) {
			sum += p.After.Excess[g.ID] / p.Before.Excess[g.ID]
		}
	}
	return sum
}
