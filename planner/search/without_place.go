package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// A strategy with landing: notRequired may move a pod although no place is predicted for its
// replacement: the replacement may stay Pending. It must not land where the move does not help, or
// where a goal becomes worse.
//
// These moves are the last wave of a plan, so no move depends on room that such a replacement may
// still take. Two pods of the wave share no goal, because one of them may count as gone while its
// replacement comes back. See docs/adr/planning.md.

// withoutPlace is the kind of a move whose replacement may stay Pending.
type withoutPlace struct{}

func (withoutPlace) describe(_ *Step, _ *cluster.Snapshot, _ *plan.Goal, m *plan.Move) {
	m.Landing = plan.LandingNotRequired
}

func (withoutPlace) recognizes(m *plan.Move, _ *cluster.Pod) bool { return m.WithoutPlace() }

// predict accepts a landing if, in each state of the victim, the replacement stays Pending or lands on an
// acceptable node with at least minConfidence.
func (k withoutPlace) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	l, reason, placed := relocation{}.predict(c, m)
	pr, pod, from := l.predicted, m.Pod, c.NodeOf(m.Pod)
	if pr.UnsupportedReason != "" {
		return l, reason, placed
	}
	l.ImprovedGoals = metByLeaving(c, pod)
	switch {
	case len(l.ImprovedGoals) == 0:
		return l, plan.Reason{Code: plan.NotNeeded, Message: "no unmet goal of a strategy with landing: notRequired needs it to leave"}, false
	case goal.LeavingHarms(c.Goals, pod, from):
		return l, plan.Reason{Code: plan.NoTargetFits, Message: "a goal would become worse while its replacement is Pending"}, false
	}
	accepts := k.accepts(c, m)
	if words := c.Targets.InUse(&c.Snapshot.Pods[pod]); words != "" && !accepts(from) {
		return l, plan.Reason{Code: plan.VolumeInUse, Message: "its replacement would start on no other node: each is " + words}, false
	}
	bad := pr.MostProb(func(n cluster.NodeID) bool { return !accepts(n) })
	l.NotBad = plan.Round(1 - bad)
	if need := c.Options.MinConfidence; l.NotBad < need {
		share, most := percent.Pair(bad, 1-need)
		return l, plan.Reason{Code: plan.WouldReturn, Message: fmt.Sprintf(
			"the replacement would return to %s, or land where it helps as little, with a probability of %s; at most %s is allowed (guards.minConfidence is %s)",
			c.Snapshot.Nodes[from].Name, share, most, percent.Of(need))}, false
	}
	l.To = cluster.NoNode
	return l, plan.Reason{}, true
}

// NeedsNoPlace reports whether the pod may move although no place is predicted for its replacement.
func NeedsNoPlace(c *Simulation, pod cluster.PodID) bool {
	if len(metByLeaving(c, pod)) == 0 || c.Snapshot.Pods[pod].Terminal {
		return false
	}
	_, _, ok := c.Predict(Move{pod, WithoutPlace, limits.NoStrategy})
	return ok
}

// accepts reports whether the replacement may land on a node, if it is scheduled: there, the move improves
// a goal that is met by the pod's leaving, and makes none worse.
func (withoutPlace) accepts(c *Simulation, m Move) func(cluster.NodeID) bool {
	pod, from := m.Pod, c.NodeOf(m.Pod)
	accepts, goals := c.GoalsAccept(pod, from), metByLeaving(c, pod)
	return func(n cluster.NodeID) bool {
		return accepts(n) &&
			slices.ContainsFunc(c.Goals.ImprovedGoals(pod, from, n), func(g int) bool { return slices.Contains(goals, g) })
	}
}

// NodesWithoutPlace returns all nodes on which the replacement of a move without a predicted place
// may land, with room or not.
func NodesWithoutPlace(c *Simulation, m Move) (out []cluster.NodeID) {
	accepts := c.accepts(m)
	for i := range c.Snapshot.Nodes {
		if n := cluster.NodeID(i); accepts(n) {
			out = append(out, n)
		}
	}
	return out
}

// metByLeaving returns the goals that the pod improves by leaving, of strategies that need no predicted place.
func metByLeaving(c *Simulation, pod cluster.PodID) []int {
	return goal.MetByLeaving(c.Goals, pod, c.NodeOf(pod), func(g *plan.Goal) bool { return c.Options.NeedsNoPlace(g.Strategy) })
}

func (withoutPlace) land(w *Wave, m Move) (out Landing, reason plan.Reason, a Verdict) {
	for i, c := range []*Simulation{w.Start, w.Now, w.Crowded} {
		l, reason, ok := c.Predict(m)
		if !ok {
			return l, reason, Refused
		}
		if i == 0 {
			out = l
		}
		out = l.worst(out)
	}
	return out, plan.Reason{}, Admitted
}

// sharesGoal reports whether a goal is about the pod and about another pod of the wave.
func (w *Wave) sharesGoal(pod cluster.PodID) bool {
	return slices.ContainsFunc(w.members, func(m cluster.PodID) bool { return goal.ShareGoal(w.Start.Goals, m, pod) })
}

// MixesPlaces reports whether a move would join moves of the other kind: those with or without a predicted place.
func (w *Wave) MixesPlaces(withoutPlace bool) bool {
	if withoutPlace {
		return w.placeless < len(w.members)
	}
	return w.placeless > 0
}

// movesWithoutPlace adds the last wave: moves without a predicted place. It is for the strategies that are not soft, or
// for the soft ones if the others need no such move.
func (c *search) movesWithoutPlace() {
	if !slices.ContainsFunc(c.sim.Goals.Goals, func(g plan.Goal) bool { return !g.Constraint && c.sim.Options.NeedsNoPlace(g.Strategy) }) {
		return
	}
	turns := []goal.Turn{goal.EveryTurn}
	if c.sim.Goals.HasSoft() {
		turns = []goal.Turn{goal.FirmTurn, goal.SoftTurn}
		defer c.setTurn(goal.EveryTurn)
	}
	was := len(c.waves.moves)
	for _, turn := range turns {
		c.setTurn(turn)
		c.lastWave()
		if len(c.waves.moves) > was {
			return
		}
	}
}

// lastWave fills one wave with moves without a predicted place.
func (c *search) lastWave() {
	c.waves.current = c.problem.newWave(c.sim, 0)
	c.waves.openWave()
	c.rounds.onlyFirst, c.waves.scope = false, anyGoal
	c.rounds.round++
	for _, g := range c.rounds.unmetGoals() {
		if !c.sim.Options.NeedsNoPlace(c.sim.Goals.Goals[g].Strategy) {
			continue
		}
		all := slices.Clone(c.rounds.candidates(g))
		for i := 0; i < len(all) && c.sim.Goals.Excess(g) > 0; i++ {
			c.rounds.moveWithoutPlace(all[i].pod, g)
		}
	}
	for _, m := range c.waves.closeWave() {
		c.account.reject(m.Pod, m.goal, plan.Reason{Code: plan.WaitsForNextPass, Message: "its landing depends on other pods that leave in this pass"})
	}
}

// moveWithoutPlace moves the pod for goal g if the goal is met by its leaving, and records the reason otherwise.
func (c *rounds) moveWithoutPlace(pod cluster.PodID, g int) {
	if c.sim.Snapshot.Pods[pod].Terminal || !slices.Contains(metByLeaving(c.sim, pod), g) {
		return
	}
	m := Move{pod, WithoutPlace, c.account.StrategyOf(g)}
	reason, no := c.account.Refuse(m)
	if !no {
		reason, no = c.sim.LimitReached()
	}
	if !no {
		var joins Verdict
		if joins, reason = c.waves.join(m, g); joins == Later && reason.Code == "" {
			reason = waitsForNextPass(noRoomInLastWave)
		}
		no = joins != Admitted
	}
	if no && reason.Code != "" {
		c.account.reject(pod, g, reason)
	}
}

const noRoomInLastWave = "no place is predicted for its replacement, and the last wave of the plan has no room for it (evictor.inFlight)"

// whyLater returns why a pod without a predicted place cannot join the wave, or "". The replacements of a wave must not
// trip the breaker by staying Pending.
func (withoutPlace) whyLater(w *Wave, m Move, hasRoom bool) string {
	switch most := w.Now.Options.Breaker.MaxPendingPods.For(len(w.Now.Snapshot.Pods)); {
	case w.placeless >= most:
		return fmt.Sprintf("no place is predicted for its replacement, and a pass leaves at most %s without a place (evictor.breaker.maxPendingPods)",
			plural.Count(most, "pod"))
	case !hasRoom:
		return noRoomInLastWave
	case w.sharesGoal(m.Pod), !w.independent(m.Pod):
		return "no place is predicted for its replacement, and another pod of its group leaves in this pass"
	}
	return ""
}
