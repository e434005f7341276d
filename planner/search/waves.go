package search

import (
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// wave is what is in flight at once. A move joins it only if its landing is good
// both in the scene at the beginning of the wave and after the wave's other
// moves, so that it does not matter which replacement is scheduled first. Hints
// on nodes belong to a wave: all of its moves are judged with all of its hints.
type wave struct {
	start    *State // the cluster at the beginning of the wave
	number   int
	consumed *eligibility.Consumed
	steps    []Step
	hinted   []cluster.NodeID
	eligibility.InFlightCount
}

// newWave follows waves that took so much for good.
func newWave(start *State, gone *eligibility.Consumed, number int) *wave {
	return &wave{start: start, number: number, consumed: gone, InFlightCount: eligibility.NewInFlight(start.Options.InFlight, gone)}
}

// join lets the pod join the wave under way.
func (c *Search) join(pod cluster.PodID, g int) (joinResult, plan.Reason) {
	w := c.wave
	if !w.Room(c.Eligibility, pod) {
		if w.Total > 0 {
			return joinsLater, plan.Reason{}
		}
		return refused, c.noRoom(pod)
	}
	l, reason, a := c.landInWave(pod)
	if a != joined {
		return a, reason
	}
	m := Step{Pod: pod, From: c.Model.NodeOf(pod), Landing: l, goal: g}
	if c.scope < anyGoal && !c.Goals.ServesAll(pod, m.From, l.To) {
		return refused, plan.Reason{} // a later aim takes it
	}
	if len(l.Hinted) > len(w.hinted) && len(w.steps) > 0 {
		if !c.addHints(append(slices.Clone(w.steps), m), l.Hinted) {
			return joinsLater, plan.Reason{}
		}
		m.Landing = w.steps[len(w.steps)-1].Landing
	} else {
		w.hinted = l.Hinted
		SetHints([]*State{w.start, c.State}, w.hinted)
		c.recordBenefit(&m)
		c.Apply(m)
		w.steps = append(w.steps, m)
	}
	c.accept(m)
	return joined, plan.Reason{}
}

// wavePair are the scenes in which a move of the wave must hold: only one as long
// as they are the same.
func (c *Search) wavePair() []*State {
	if len(c.wave.steps) == 0 {
		return []*State{c.State}
	}
	return []*State{c.wave.start, c.State}
}

// landInWave lands a pod with the hints that the wave has, or, where hints are
// looked for, with more. What does not hold at the beginning of the wave may
// hold in the next one.
func (c *Search) landInWave(pod cluster.PodID) (Landing, plan.Reason, joinResult) {
	w := c.wave
	if why, known := c.unmoved.of(c, pod); known {
		*c.predictions++ // as much effort as before: plans do not depend on what is remembered
		return Landing{}, why, refused
	}
	l, reason, ok := c.PredictLanding(pod)
	own := !ok
	if ok && len(w.steps) > 0 {
		if _, r, holds := w.start.PredictLanding(pod); !holds {
			if !c.useHints || !steerable(r.Code) {
				return l, r, joinsLater
			}
			reason, ok = r, false
		}
	}
	if ok {
		l.Hinted = w.hinted
		if l.Steered = len(w.hinted) > 0 && c.needsHints(pod); len(w.hinted) > 0 {
			again, _, _ := c.PredictLanding(pod) // what was predicted without hints took its place
			l.predicted = again.predicted
		}
		return l, plan.Reason{}, joined
	}
	if !c.useHints || !steerable(reason.Code) {
		if own {
			c.unmoved.add(c, pod, reason)
		}
		return l, reason, refused
	}
	l, why := findHints(c.wavePair(), pod, w.hinted)
	switch {
	case why == "":
		return l, plan.Reason{}, joined
	case len(w.steps) > 0 && !(own && len(w.hinted) == 0 && c.hintsCannotHelp(pod)):
		return l, reason, joinsLater
	}
	reason.Message += "; not steered: " + why
	return l, reason, refused
}

// hintsCannotHelp reports whether no hints help the pod in the next wave either, which
// would begin as things stand.
func (c *Search) hintsCannotHelp(pod cluster.PodID) bool {
	_, why := findHints([]*State{c.State}, pod, nil)
	return why != ""
}

// needsHints reports whether the landing would not hold without the wave's hints.
func (c *Search) needsHints(pod cluster.PodID) bool {
	both := c.wavePair()
	SetHints(both, nil)
	_, _, without := predictLandings(both, pod, false)
	SetHints(both, c.wave.hinted)
	return without.Code != ""
}

// addHints lands all moves of the wave anew, with more hints than before. When one
// no longer holds, the wave is left as it was.
func (c *Search) addHints(all []Step, now []cluster.NodeID) bool {
	w, before := c.wave, c.wave.steps
	both := []*State{w.start, c.State}
	for _, m := range slices.Backward(before) {
		c.Undo(m)
	}
	SetHints(both, now)
	for i := range all {
		m := &all[i]
		states := both
		if i == 0 {
			states = both[1:]
		}
		l, _, reason := predictLandings(states, m.Pod, false)
		if reason.Code != "" {
			for _, done := range slices.Backward(all[:i]) {
				c.Undo(done)
			}
			SetHints(both, w.hinted)
			for _, m := range before {
				c.Apply(m)
			}
			return false
		}
		l.Hinted, l.Steered = now, m.Landing.Steered
		m.Landing = l
		c.recordBenefit(m)
		c.Apply(*m)
	}
	w.steps, w.hinted = all, now
	return true
}

// recordBenefit notes what the move is good for, before it is made.
func (c *Search) recordBenefit(m *Step) {
	m.Benefit = c.Goals.BenefitOfLeaving(m.Pod, m.From)
	served := m.Landing.Served
	switch {
	case slices.Contains(served, m.goal):
	case len(served) > 0 && !c.Goals.CouldServe(m.goal, m.Pod, m.From):
		m.goal = served[0]
	default:
		served = append(slices.Clone(served), m.goal)
	}
	m.Landing.Served, m.MostServed = served, c.Goals.MostServed(m.Pod, m.From, served)
	m.Landing.Acceptable = c.countAcceptable(m.Pod, &m.Landing)
	m.Landing.predicted = prediction.Prediction{}
}

func (c *Search) accept(m Step) {
	c.wave.Add(c.Eligibility, m.Pod)
	c.Moves = append(c.Moves, WaveStep{m, c.wave.number})
	c.Moved[m.Pod] = true
	c.Limits.Add(m.Pod)
	c.Rejections.remove(m.Pod)
}

// closeWave begins the next wave, which finds the replacements of this one Ready.
func (c *Search) closeWave() {
	w := c.wave
	if len(w.steps) == 0 {
		return
	}
	SetHints([]*State{w.start, c.State}, nil)
	from := len(c.Moves) - len(w.steps)
	for i, m := range w.steps {
		c.Moves[from+i].Step = m // hints that came later may have changed its landing
		w.start.Apply(m)
		w.consumed.Add(c.Eligibility, m.Pod)
	}
	c.HintedByWave = append(c.HintedByWave, w.hinted)
	c.wave = newWave(w.start, w.consumed, w.number+1)
}

// noRoom says why a pod that could leave at first may not leave any more, with
// nothing in flight.
func (c *Search) noRoom(pod cluster.PodID) plan.Reason {
	if reason, no := c.wave.consumed.Refuse(c.Eligibility, pod); no {
		return reason
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: "its landing depends on the order in which others are placed"}
}
