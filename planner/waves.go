package planner

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// wavedStep is a step with the wave it is in.
type wavedStep struct {
	step
	wave int
}

// wave is what is in flight at once. A move joins it only if its landing is good
// both in the scene at the beginning of the wave and after the wave's other
// moves, so that it does not matter which replacement is scheduled first. Hints
// on nodes belong to a wave: all of its moves are judged with all of its hints.
type wave struct {
	start  *scene // the cluster at the beginning of the wave
	number int
	gone   *lost
	steps  []step
	hinted []cluster.NodeID
	away
}

// away counts the pods that are in flight.
type away struct {
	inFlight InFlight
	total    int
	node     map[cluster.NodeID]int
	owner    map[cluster.WorkloadID]int
	budget   budget.Charges
	behind   map[cluster.ServiceID]int // Ready pods taken from behind each Service
	required guard.EvictionCounts
}

// newWave follows waves that took so much for good.
func newWave(start *scene, gone *lost, number int) *wave {
	return &wave{start: start, number: number, gone: gone, away: newAway(start.opts.InFlight, gone)}
}

func newAway(f InFlight, gone *lost) away {
	return away{f, 0, map[cluster.NodeID]int{}, map[cluster.WorkloadID]int{}, maps.Clone(gone.budget), maps.Clone(gone.behind), maps.Clone(gone.required)}
}

func (w *away) full() bool { return w.total >= w.inFlight.Total }

// room reports whether one more pod may be away at the same time. Budgets are
// those of the snapshot: each wave waits until the last one's replacements are
// Ready, so that every wave finds them whole again, but for what is lost.
func (w *away) room(c *search, pod cluster.PodID) bool {
	p := &c.s.Pods[pod]
	if w.full() || w.node[p.Node] >= w.inFlight.PerNode || w.owner[p.Workload] >= w.inFlight.PerOwner {
		return false
	}
	if _, last := c.lastBehind(w.behind, p); last {
		return false
	}
	if _, last := c.lastRequired(w.required, pod); last {
		return false
	}
	if len(p.Budgets) > 0 {
		_, allowed := c.verdict.book.Allows(p, w.budget)
		return allowed
	}
	return w.owner[p.Workload] < c.verdict.allowed(p)
}

func (w *away) add(c *search, pod cluster.PodID) {
	p := &c.s.Pods[pod]
	w.total++
	w.node[p.Node]++
	w.owner[p.Workload]++
	c.verdict.book.Charge(p, w.budget)
	c.takeRequired(w.required, pod)
	if p.Ready {
		for _, id := range p.Services {
			w.behind[id]++
		}
	}
}

// join lets the pod join the wave under way.
func (c *search) join(pod cluster.PodID, g int) (answer, plan.Reason) {
	w := c.wave
	if !w.room(c, pod) {
		if w.total > 0 {
			return later, plan.Reason{}
		}
		return refused, c.noRoom(pod)
	}
	l, reason, a := c.landInWave(pod)
	if a != joined {
		return a, reason
	}
	m := step{pod: pod, from: c.world.NodeOf(pod), landing: l, goal: g}
	if c.aim < anyGoal && !c.goals.servesAll(pod, m.from, l.to) {
		return refused, plan.Reason{} // a later aim takes it
	}
	if len(l.hinted) > len(w.hinted) && len(w.steps) > 0 {
		if !c.rehint(append(slices.Clone(w.steps), m), l.hinted) {
			return later, plan.Reason{}
		}
		m.landing = w.steps[len(w.steps)-1].landing
	} else {
		w.hinted = l.hinted
		hint([]*scene{w.start, c.scene}, w.hinted)
		c.weigh(&m)
		c.apply(m)
		w.steps = append(w.steps, m)
	}
	c.accept(m)
	return joined, plan.Reason{}
}

// both are the scenes in which a move of the wave must hold: only one as long
// as they are the same.
func (c *search) both() []*scene {
	if len(c.wave.steps) == 0 {
		return []*scene{c.scene}
	}
	return []*scene{c.wave.start, c.scene}
}

// landInWave lands a pod with the hints that the wave has, or, where hints are
// looked for, with more. What does not hold at the beginning of the wave may
// hold in the next one.
func (c *search) landInWave(pod cluster.PodID) (landing, plan.Reason, answer) {
	w := c.wave
	if why, known := c.stays.of(c, pod); known {
		*c.predictions++ // as much effort as before: plans do not depend on what is remembered
		return landing{}, why, refused
	}
	c.ahead.expect(c, pod)
	l, reason, ok := c.land(pod)
	own := !ok
	c.ahead.hear(w.start, ok)
	if ok && len(w.steps) > 0 {
		if _, r, holds := w.start.land(pod); !holds {
			if !c.steers || !steerable(r.Code) {
				return l, r, later
			}
			reason, ok = r, false
		}
	}
	if ok {
		l.hinted = w.hinted
		if l.steered = len(w.hinted) > 0 && c.needsHints(pod); len(w.hinted) > 0 {
			again, _, _ := c.land(pod) // what was predicted without hints took its place
			l.predicted = again.predicted
		}
		return l, plan.Reason{}, joined
	}
	if !c.steers || !steerable(reason.Code) {
		if own {
			c.stays.add(c, pod, reason)
		}
		return l, reason, refused
	}
	l, why := steer(c.both(), pod, w.hinted)
	switch {
	case why == "":
		return l, plan.Reason{}, joined
	case len(w.steps) > 0 && !(own && len(w.hinted) == 0 && c.hopeless(pod)):
		return l, reason, later
	}
	reason.Message += "; not steered: " + why
	return l, reason, refused
}

// hopeless reports whether no hints help the pod in the next wave either, which
// would begin as things stand.
func (c *search) hopeless(pod cluster.PodID) bool {
	_, why := steer([]*scene{c.scene}, pod, nil)
	return why != ""
}

// needsHints reports whether the landing would not hold without the wave's hints.
func (c *search) needsHints(pod cluster.PodID) bool {
	both := c.both()
	hint(both, nil)
	_, _, without := landings(both, pod, false)
	hint(both, c.wave.hinted)
	return without.Code != ""
}

// rehint lands all moves of the wave anew, with more hints than before. When one
// no longer holds, the wave is left as it was.
func (c *search) rehint(all []step, now []cluster.NodeID) bool {
	w, before := c.wave, c.wave.steps
	both := []*scene{w.start, c.scene}
	for _, m := range slices.Backward(before) {
		c.undo(m)
	}
	hint(both, now)
	for i := range all {
		m := &all[i]
		states := both
		if i == 0 {
			states = both[1:]
		}
		l, _, reason := landings(states, m.pod, false)
		if reason.Code != "" {
			for _, done := range slices.Backward(all[:i]) {
				c.undo(done)
			}
			hint(both, w.hinted)
			for _, m := range before {
				c.apply(m)
			}
			return false
		}
		l.hinted, l.steered = now, m.landing.steered
		m.landing = l
		c.weigh(m)
		c.apply(*m)
	}
	w.steps, w.hinted = all, now
	return true
}

// weigh notes what the move is good for, before it is made.
func (c *search) weigh(m *step) {
	m.gain = c.goals.gain(m.pod, m.from)
	served := m.landing.served
	switch {
	case slices.Contains(served, m.goal):
	case len(served) > 0 && !c.goals.couldServe(m.goal, m.pod, m.from):
		m.goal = served[0]
	default:
		served = append(slices.Clone(served), m.goal)
	}
	m.landing.served, m.most = served, c.goals.servedMost(m.pod, m.from, served)
	m.landing.acceptable = c.countAcceptable(m.pod, &m.landing)
	m.landing.predicted = prediction.Prediction{}
}

func (c *search) accept(m step) {
	c.wave.add(c, m.pod)
	c.moves = append(c.moves, wavedStep{m, c.wave.number})
	c.moved[m.pod] = true
	c.limits.count(m.pod)
	c.refused.remove(m.pod)
}

// closeWave begins the next wave, which finds the replacements of this one Ready.
func (c *search) closeWave() {
	w := c.wave
	if len(w.steps) == 0 {
		return
	}
	hint([]*scene{w.start, c.scene}, nil)
	from := len(c.moves) - len(w.steps)
	for i, m := range w.steps {
		c.moves[from+i].step = m // hints that came later may have changed its landing
		w.start.apply(m)
		w.gone.add(c, m.pod)
	}
	c.hinted = append(c.hinted, w.hinted)
	c.wave = newWave(w.start, w.gone, w.number+1)
}

// noRoom says why a pod that could leave at first may not leave any more, with
// nothing in flight.
func (c *search) noRoom(pod cluster.PodID) plan.Reason {
	if reason, no := c.wave.gone.refuse(c, pod); no {
		return reason
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: "its landing depends on the order in which others are placed"}
}
