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
	places := c.sim.Goals.CheckTargets(pod, c.sim.Model.NodeOf(pod))
	c.nodeBuffer = l.predicted.Gone.FeasibleSet.Append(c.nodeBuffer[:0])
	return places.Count(c.nodeBuffer, c.sim.MayTake(pod))
}

// rejectedSinceMove caches the pods without an acceptable landing in the current state, with the reasons. The cache
// is valid until a move is made or undone. In a large cluster, whole rounds find no move, and the cache avoids
// repeated predictions. If steering is enabled, the cache stays empty, because hints change landings. Reasons that only
// one strategy has are not cached either.
type rejectedSinceMove struct {
	at  int // Simulation.moveCount when the reasons were recorded
	why map[cluster.PodID]plan.Reason
}

// maxCleared is the largest number of entries for which add clears the map instead of replacing it.
const maxCleared = 64

func (u *rejectedSinceMove) of(c *Simulation, pod cluster.PodID) (plan.Reason, bool) {
	if u.at != c.moveCount || len(u.why) == 0 {
		return plan.Reason{}, false
	}
	why, known := u.why[pod]
	return why, known
}

func (u *rejectedSinceMove) add(c *Simulation, m Move, why plan.Reason) {
	if _, own := c.neededConfidence(m); own != "" || c.Options.Steers() {
		return
	}
	switch {
	case u.why == nil || u.at != c.moveCount && len(u.why) > maxCleared:
		u.why = map[cluster.PodID]plan.Reason{}
	case u.at != c.moveCount:
		clear(u.why)
	}
	u.at = c.moveCount
	u.why[m.Pod] = why
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

// land predicts the landing of a move of the kind Relocate or Remove with the hints of the wave, and may add hints. The
// result is Later if the landing is not acceptable at the beginning of the wave, or if hints may help in the next
// wave.
func (w *Wave) land(m Move) (Landing, plan.Reason, Verdict) {
	if why, known := w.unlandable.of(w.Now, m.Pod); known {
		*w.Now.predictions++ // counts as a prediction, so that the cache does not change the plan
		return Landing{}, why, Refused
	}
	l, reason, ok := w.predict(w.Now, m)
	own := !ok
	if ok && len(w.steps) > 0 {
		if l, reason, ok = w.predictInWave(m, l); !ok && (!w.mayHint || !hintsMayHelp(reason.Code)) {
			return l, reason, Later
		}
	}
	if ok {
		l.Hinted = w.hinted
		if l.Steered = len(w.hinted) > 0 && w.needsHints(m); len(w.hinted) > 0 {
			states := w.differentStates()
			again, _, _ := states[len(states)-1].Predict(m) // needsHints overwrote the prediction
			l.predicted = again.predicted
		}
		return l, plan.Reason{}, Admitted
	}
	if !w.mayHint || !hintsMayHelp(reason.Code) {
		if own {
			w.unlandable.add(w.Now, m, reason)
		}
		return l, reason, Refused
	}
	l, why := findHints(w.differentStates(), m, w.hinted)
	switch {
	case why == "":
		return l, plan.Reason{}, Admitted
	case len(w.steps) > 0 && !(own && len(w.hinted) == 0 && w.hintsCannotHelp(m)):
		return l, reason, Later
	}
	reason.Message += "; not steered: " + why
	return l, reason, Refused
}

// hintsCannotHelp reports whether hints would not help the pod in the next wave, which begins with the current state.
func (w *Wave) hintsCannotHelp(m Move) bool {
	_, why := findHints([]*Simulation{w.Now}, m, nil)
	return why != ""
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
	m.Benefit = c.sim.Goals.BenefitOfLeaving(m.Pod, m.From)
	improved := m.Landing.ImprovedGoals
	if len(improved) > 0 && !c.sim.Goals.CouldImprove(m.goal, m.Pod, m.From) {
		m.goal = improved[0]
	}
	if own := c.account.GoalsOfStrategy(m.Strategy, improved); len(own) > 0 {
		m.MostImproved = c.sim.Goals.MostImproved(m.Pod, m.From, own)
	}
}
