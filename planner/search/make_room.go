package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// roomMaking is the kind of the first move of a step.
type roomMaking struct{}

func (roomMaking) whyLater(w *Wave, m Move, hasRoom bool) string {
	return relocation{}.whyLater(w, m, hasRoom)
}

func (roomMaking) describe(st *Step, s *cluster.Snapshot, _ *plan.Goal, m *plan.Move) {
	p := plan.PodRefOf(&s.Pods[st.For.Pod])
	m.DisplacedFor, m.Reason = &p, plan.Reason{Code: plan.DisplacedForMove, Message: fmt.Sprintf(
		"%s can move to %s for goal %s after this pod leaves", p, s.Nodes[st.For.On].Name, m.Goals[0])}
}

func (roomMaking) recognizes(m *plan.Move, _ *cluster.Pod) bool { return m.DisplacedFor != nil }

// predict accepts the landing of a displaced pod if no goal becomes worse, with at least minConfidence.
func (k roomMaking) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	pod := m.Pod
	if b := c.amountWithUnknownUsage(pod); b != nil {
		return Landing{predicted: &prediction.Prediction{}}, plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("the pod's %s usage is unknown",
			b.Measure.Resource)}, false
	}
	from := c.Model.Cluster.NodeOf(pod)
	countPrediction(c)
	pr := c.Model.PredictOdds(pod)
	if pr.UnsupportedReason != "" {
		return Landing{predicted: &pr}, plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}, false
	}
	good := k.accepts(c, m)
	l := Landing{Confidence: plan.Round(pr.Prob(good)), ReturnProbability: plan.Round(pr.ProbOf(from)),
		PendingProbability: plan.Round(pr.Pending()), predicted: &pr}
	if need := c.Options.MinConfidence; l.Confidence < need {
		good, least := percent.Pair(l.Confidence, need)
		return l, plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
			"its replacement lands where it makes no goal worse with probability %s only (guards.minConfidence wants %s)",
			good, least)}, false
	}
	l.To = pr.LikeliestOf(good)
	return l, plan.Reason{}, true
}

// accepts reports whether a displaced pod may land on a node. The second move of the step may improve a goal by
// load. So nodes without a goal are protected from overload, and nodes with unknown usage take no displaced pod.
func (roomMaking) accepts(c *Simulation, m Move) func(cluster.NodeID) bool {
	places, may := c.Goals.CheckTargets(m.Pod, c.Model.Cluster.NodeOf(m.Pod)), c.MayTake(m.Pod)
	outside := c.Goals.RoomNeededOutsideGoals(m.Pod, c.strategyName(m))
	return func(n cluster.NodeID) bool {
		if n == places.From || !may[n] || places.Harms(n) || !goal.HasRoom(outside, n) {
			return false
		}
		for _, known := range c.Goals.KnownUsage {
			if known[n] == 0 {
				return false
			}
		}
		return true
	}
}

func (roomMaking) land(w *Wave, m Move) (Landing, plan.Reason, Verdict) {
	l, reason, ok := w.predict(w.Now, m)
	if ok && len(w.steps) > 0 {
		l, reason, ok = w.predictInWave(m, l)
	}
	if !ok {
		return l, reason, Refused
	}
	return l, reason, Admitted
}

// amountWithUnknownUsage returns an amount of the goals for which the pod's usage is unknown, or nil. If the usage of
// a pod is unknown, the planner cannot exclude that the pod overloads another node.
func (c *Simulation) amountWithUnknownUsage(pod cluster.PodID) *cluster.Amounts {
	for amounts := range c.Goals.KnownUsage { // the map order does not matter: the plan does not contain the amount
		if k := amounts.PodQuality(pod); k == cluster.Unknown || k == cluster.BoundAfterSample {
			return amounts
		}
	}
	return nil
}

// repeat adds an earlier move to the current wave, if it still belongs there. The second move of a step belongs in the
// next wave. If the first move is rejected, the caller tries the second move alone.
func (c *waves) repeat(m Step) Verdict {
	if m.Kind != MakeRoom {
		v, _ := c.join(Move{m.Pod, m.Kind, c.account.StrategyOf(m.goal)}, m.goal)
		return v
	}
	a := displacement{displaced: m.Pod, pod: m.For.Pod, target: m.For.On, goal: m.goal,
		improvedGoals: slices.Clone(m.Landing.ImprovedGoals)}
	switch _, spent := c.account.Limits.RefuseFor(m.Strategy, m.Pod); {
	case spent:
		return Refused
	case c.joinDisplaced(a):
		return Admitted
	case c.current.InFlight.Total > 0:
		return Later
	}
	return Refused
}

// isNeedless reports whether the goals are met as well without move i. The first move of a step is needless if the
// second move is needless or missing.
func (c *waves) isNeedless(i int) bool {
	m := &c.moves[i]
	if m.Kind == MakeRoom {
		return !c.isDisplacement(i) || c.isNeedless(i+1)
	}
	return c.sim.Goals.EachAffected(m.Pod, m.Landing.To, m.From, func(g int) bool {
		return c.sim.Goals.Measures[g].ExcessAfter(m.Pod, m.Landing.To, m.From) <= c.sim.Goals.Excess(g)
	})
}

// isDisplacement reports whether move i makes room for move i+1. The first move of a step always precedes the second
// directly.
func (c *waves) isDisplacement(i int) bool {
	return c.moves[i].Kind == MakeRoom && i+1 < len(c.moves) && c.moves[i+1].Pod == c.moves[i].For.Pod
}

// hasUnpairedDisplacement reports whether a step has its first move but not its second.
func (c *waves) hasUnpairedDisplacement() bool {
	for i := range c.moves {
		if c.moves[i].Kind == MakeRoom && !c.isDisplacement(i) {
			return true
		}
	}
	return false
}

// A displacement is a step of two moves: the pod displaced leaves target, then pod lands on target and improves goal.
type displacement struct {
	displaced, pod cluster.PodID
	target         cluster.NodeID
	goal           int
	improvedGoals  []int                 // goals that the move of pod improves
	value          float64               // weighted excess that both moves remove, as a share of the initial excess
	order          cluster.EvictionOrder // of the pod that leaves last
}

// joinDisplaced adds the first move of a step to the current wave, if the wave has room and the landing is
// acceptable.
func (c *waves) joinDisplaced(a displacement) bool {
	st, joins, _ := c.current.Admit(Move{a.displaced, MakeRoom, c.account.StrategyOf(a.goal)}, nil)
	if joins != Admitted {
		return false
	}
	st.goal, st.For = a.goal, DisplacedFor{a.pod, a.target}
	st.Landing.ImprovedGoals, st.Landing.Acceptable = a.improvedGoals, c.sim.AcceptableNodes(st.Move, &st.Landing).Count
	st.Landing.predicted = nil
	st.MostImproved = c.sim.Goals.MostImproved(a.pod, c.sim.Model.Cluster.NodeOf(a.pod), c.account.GoalsOfStrategy(st.Strategy, a.improvedGoals))
	c.add(st)
	return true
}
