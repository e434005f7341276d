package search

import (
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// wave holds the moves that are in flight at once. A move joins only if its landing is
// acceptable at the beginning of the wave and also after the wave's other moves. The order in
// which the scheduler places the replacements then does not matter. Node hints belong to a
// wave: the search predicts all of its moves with all of its hints.
type wave struct {
	start    *State // the cluster at the beginning of the wave
	number   int
	consumed *eligibility.Consumed
	steps    []Step
	hinted   []cluster.NodeID
	eligibility.InFlightCount
}

// newWave returns an empty wave. gone is what earlier waves consumed permanently.
func newWave(start *State, gone *eligibility.Consumed, number int) *wave {
	return &wave{start: start, number: number, consumed: gone, InFlightCount: eligibility.NewInFlight(start.Options.InFlight, gone)}
}

// join adds the pod to the current wave if the wave has room and the landing is acceptable. g
// is the goal that the pod is to serve.
func (c *Search) join(pod cluster.PodID, g int) (joinResult, plan.Reason) {
	w := c.wave
	if !w.CanAdd(c.Eligibility, pod) {
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
		return refused, plan.Reason{} // a later scope may accept it
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

// wavePair returns the states in which a move of the wave must land well: the beginning of
// the wave and the current state. It returns one state while both are equal.
func (c *Search) wavePair() []*State {
	if len(c.wave.steps) == 0 {
		return []*State{c.State}
	}
	return []*State{c.wave.start, c.State}
}

// landInWave predicts the pod's landing with the hints of the wave. If useHints is set, it
// may add hints. It returns joinsLater if the landing is not acceptable at the beginning of
// the wave, or if hints may help in the next wave.
func (c *Search) landInWave(pod cluster.PodID) (Landing, plan.Reason, joinResult) {
	w := c.wave
	if why, known := c.sinceMove.of(c, pod); known {
		*c.predictions++ // counts as a prediction, so that the cache does not change the plan
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
			again, _, _ := c.PredictLanding(pod) // needsHints overwrote the prediction
			l.predicted = again.predicted
		}
		return l, plan.Reason{}, joined
	}
	if !c.useHints || !steerable(reason.Code) {
		if own {
			c.sinceMove.add(c, pod, reason)
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

// hintsCannotHelp reports whether hints would not help the pod in the next wave, which begins
// with the current state.
func (c *Search) hintsCannotHelp(pod cluster.PodID) bool {
	_, why := findHints([]*State{c.State}, pod, nil)
	return why != ""
}

// needsHints reports whether the landing would be unacceptable without the wave's hints.
func (c *Search) needsHints(pod cluster.PodID) bool {
	both := c.wavePair()
	SetHints(both, nil)
	_, _, without := predictLandings(both, pod, false)
	SetHints(both, c.wave.hinted)
	return without.Code != ""
}

// addHints predicts all moves of the wave again, with the hints in now. If a landing is no
// longer acceptable, it restores the wave and returns false.
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

// recordBenefit records the benefit and the served goals of a move. The caller applies the
// move afterwards.
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

// closeWave ends the current wave and begins the next. In the next wave, the replacements of
// this one are Ready.
func (c *Search) closeWave() {
	w := c.wave
	if len(w.steps) == 0 {
		return
	}
	SetHints([]*State{w.start, c.State}, nil)
	from := len(c.Moves) - len(w.steps)
	for i, m := range w.steps {
		c.Moves[from+i].Step = m // later hints may have changed its landing
		w.start.Apply(m)
		w.consumed.Add(c.Eligibility, m.Pod)
	}
	c.HintedByWave = append(c.HintedByWave, w.hinted)
	c.wave = newWave(w.start, w.consumed, w.number+1)
}

// noRoom returns why a pod may not leave any more although no pod is in flight.
func (c *Search) noRoom(pod cluster.PodID) plan.Reason {
	if reason, no := c.wave.consumed.Refuse(c.Eligibility, pod); no {
		return reason
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: "its landing depends on the order in which others are placed"}
}
