package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// countAcceptable returns the number of nodes that are acceptable for a landing.
func (c *waves) countAcceptable(pod cluster.PodID, l *Landing) int {
	if l.To == cluster.NoNode {
		return 0
	}
	places := c.sim.Goals.CheckTargets(pod, c.sim.Model.Cluster.NodeOf(pod))
	return places.Count(&l.predicted.Gone.FeasibleSet, c.sim.MayTake(pod))
}

// rejectedSinceMove caches the pods without an acceptable landing in the current state, with the reasons. The cache
// is valid until a move is made or undone. In a large cluster, whole rounds find no move, and the cache avoids
// repeated predictions. If steering is enabled, the cache stays empty, because hints change landings.
type rejectedSinceMove struct {
	at  int // Simulation.version when the reasons were recorded
	why map[cluster.PodID]plan.Reason
}

// maxCleared is the largest number of entries for which add clears the map instead of replacing it.
const maxCleared = 64

func (u *rejectedSinceMove) of(c *Simulation, pod cluster.PodID) (plan.Reason, bool) {
	if u.at != c.version || len(u.why) == 0 {
		return plan.Reason{}, false
	}
	why, known := u.why[pod]
	return why, known
}

func (u *rejectedSinceMove) add(c *Simulation, pod cluster.PodID, why plan.Reason) {
	if c.Options.Steers() {
		return
	}
	switch {
	case u.why == nil || u.at != c.version && len(u.why) > maxCleared:
		u.why = map[cluster.PodID]plan.Reason{}
	case u.at != c.version:
		clear(u.why)
	}
	u.at = c.version
	u.why[pod] = why
}

// states returns the states in which a move of the wave needs an acceptable landing.
func (w *Wave) states() []*Simulation { return []*Simulation{w.Start, w.Now, w.Crowded} }

// differentStates returns the states, or only the current state while all are equal.
func (w *Wave) differentStates() []*Simulation {
	if len(w.steps) == 0 {
		return []*Simulation{w.Now}
	}
	return w.states()
}

// needsHints reports whether the landing would be unacceptable without the wave's hints.
func (w *Wave) needsHints(m Move) bool {
	states := w.differentStates()
	SetHints(states, nil)
	_, _, without := predictLandings(states, m, false)
	SetHints(states, w.hinted)
	return without.Code != ""
}

// addHints predicts all moves of the wave again, with the hints in now. If a landing is no longer
// acceptable, or no longer improves a goal of the move's strategy, addHints restores the wave and
// returns false.
func (c *waves) addHints(all []Step, now []cluster.NodeID) bool {
	w, before := c.current, c.current.steps
	w.undo()
	SetHints(w.states(), now)
	for i := range all {
		m := &all[i]
		l, _, reason := predictLandings(w.differentStates(), m.Move, false)
		own := c.account.GoalsOfStrategy(m.Strategy, l.ImprovedGoals)
		if reason.Code != "" || c.account.strategyOfGoal != nil && len(own) == 0 {
			w.undo()
			SetHints(w.states(), w.hinted)
			for _, m := range before {
				w.Join(m)
			}
			return false
		}
		l.Hinted, l.Steered = now, m.Landing.Steered
		if m.Landing = l; c.account.strategyOfGoal != nil {
			m.goal = c.sim.Goals.MostImproved(m.Pod, m.From, own)
		}
		c.recordBenefit(m)
		w.Join(*m)
	}
	w.hinted = now
	return true
}

// recordBenefit records the benefit, the improved goals and the acceptable nodes of a move. The caller applies the move
// afterwards.
func (c *waves) recordBenefit(m *Step) {
	c.recordImproved(m)
	m.Landing.Acceptable = c.countAcceptable(m.Pod, &m.Landing)
	m.Landing.predicted = nil
}

func (c *waves) recordImproved(m *Step) {
	m.Benefit, _ = c.sim.Goals.WorthOfLeaving(m.Pod, m.From)
	improved := m.Landing.ImprovedGoals
	if len(improved) > 0 && !c.sim.Goals.CouldImprove(m.goal, m.Pod, m.From) {
		m.goal = improved[0]
	}
	if own := c.account.GoalsOfStrategy(m.Strategy, improved); len(own) > 0 {
		m.MostImproved = c.sim.Goals.MostImproved(m.Pod, m.From, own)
	}
}
