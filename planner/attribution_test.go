package planner_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestMovesListImprovedGoals repeats the moves of a scenario and of random plans.
func TestMovesListImprovedGoals(t *testing.T) {
	one := scenario.Read(t, "strategy-of-improved-goal")
	s, _, conf := openScenario(t, one)
	moves := repeatMoves(t, s, conf, planScenario(t, one))
	conf = configWithTwoStrategies(t)
	for seed := range uint64(25) {
		s, p := planRandomCluster(t, simulation.Crowded(rand.New(rand.NewPCG(seed, 9)), 12, 12, 8), conf)
		moves += repeatMoves(t, s, conf, p)
	}
	if moves < 200 {
		t.Errorf("only %d moves", moves)
	}
}

// repeatMoves checks that each move improves every goal that it lists, and that one of them belongs
// to its strategy. Moves that make room for others improve none. It returns the number of the other
// moves.
func repeatMoves(t *testing.T, s *cluster.Snapshot, conf *config.Config, p plan.Plan) (moves int) {
	t.Helper()
	track := goal.NewTracker(s, goal.Number(s, controller.Goals(s, conf.BuildStrategies(), nil)))
	for _, m := range p.Moves {
		pod, before, own := s.PodByKey(m.Pod.String()), map[int]int64{}, false
		for i := range track.Goals {
			if slices.Contains(m.Goals, track.Goals[i].ID) {
				before[i], own = track.Excess(i), own || track.Goals[i].Strategy == m.Strategy
			}
		}
		track.Move(pod.ID, pod.Node, s.NodeByName(m.To).ID)
		if m.DisplacedFor != nil {
			continue
		}
		moves++
		if len(before) != len(m.Goals) || !own {
			t.Errorf("%s is for strategy %s and lists %v", m.Pod, m.Strategy, m.Goals)
		}
		for i, was := range before {
			if is := track.Excess(i); is >= was {
				t.Errorf("%s lists goal %s of %s, whose excess is %d before and %d after the move", m.Pod, track.Goals[i].ID,
					track.Goals[i].Strategy, was, is)
			}
		}
	}
	return moves
}

// TestMoveIsForTheMostImprovedGoal checks that the plan names the strategy whose goal a move improves most, by share of
// the excess and by weight. A move from n1 to n3 meets the goal zones, and removes a quarter of the excess of hot.
func TestMoveIsForTheMostImprovedGoal(t *testing.T) {
	s := snapshotOf(t, `
base: three-nodes
objects:
- {kind: Deployment, metadata: {name: web}, requests: {cpu: "1", memory: 64Mi}, pods: [3 on n1, 2 on n2, 1 on n3]}
- {kind: Pod, metadata: {name: large}, requests: {cpu: "6", memory: 64Mi}, spec: {nodeName: n1}}
`)
	for name, c := range map[string]struct {
		zones, hot float64 // weights
		first      string  // name of the strategy zones
		want       string
	}{
		"the larger share":             {zones: 1, hot: 1, first: "zones", want: "zones"},
		"the larger weighted share":    {zones: 1, hot: 5, first: "zones", want: "hot"},
		"equal shares, the first name": {zones: 1, hot: 4, first: "zones", want: "hot"},
		"equal shares, another name":   {zones: 1, hot: 4, first: "areas", want: "areas"},
	} {
		spread := countAtMost(s, "web", "topology.kubernetes.io/zone", 1)
		spread.Strategy, spread.Kind, spread.Weight, spread.Domains = c.first, plan.SkewAtMost, c.zones, []string{"zone-1", "zone-2", "zone-3"}
		p := planFor(t, s, unlimitedOptions(), spread, plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Weight: c.hot, Limit: 0.5,
			Resource: "cpu", Subject: plan.ObjectRef{Kind: "Node", Name: "n1"}, Node: s.NodeByName("n1").ID,
			Reason: plan.Reason{Code: plan.NodeOverUtilized, Message: "n1 is too full"}})
		if len(p.Moves) == 0 || len(p.Moves[0].Goals) != 2 || p.Moves[0].Strategy != c.want {
			t.Errorf("%s: want the first move for %s and both goals:\n%s", name, c.want, formatPlan(p))
		}
	}
}
