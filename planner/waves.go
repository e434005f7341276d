package planner

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/budget"
)

// wave is what is in flight at once.
type wave struct {
	total  int
	node   map[cluster.NodeID]int
	owner  map[cluster.WorkloadID]int
	budget budget.Taken
	behind map[cluster.ServiceID]int // Ready pods taken from behind each Service
}

// newWave follows waves that took so much for good.
func newWave(l *lost) *wave {
	return &wave{0, map[cluster.NodeID]int{}, map[cluster.WorkloadID]int{}, maps.Clone(l.budget), maps.Clone(l.behind)}
}

// room reports whether one more pod may be away at the same time. Budgets are
// those of the snapshot: each wave waits until the last one's replacements are
// Ready, so that every wave finds them whole again, but for what is lost.
func (w *wave) room(c *search, pod cluster.PodID) bool {
	p, f := &c.s.Pods[pod], c.p.opts.InFlight
	if w.total >= f.Total || w.node[p.Node] >= f.PerNode || w.owner[p.Workload] >= f.PerOwner {
		return false
	}
	if _, last := c.lastBehind(w.behind, p); last {
		return false
	}
	if len(p.Budgets) > 0 {
		_, allowed := c.verdict.book.Ask(p, w.budget)
		return allowed
	}
	_, allowed := c.verdict.withoutPDB(p)
	return w.owner[p.Workload] < allowed
}

func (w *wave) add(c *search, pod cluster.PodID) {
	p := &c.s.Pods[pod]
	w.total++
	w.node[p.Node]++
	w.owner[p.Workload]++
	c.verdict.book.Take(p, w.budget)
	if p.Ready {
		for _, id := range p.Services {
			w.behind[id]++
		}
	}
}

// wavedStep is a step with the wave it is in.
type wavedStep struct {
	step
	wave int
}

// intoWaves cuts the moves into waves. A move joins a wave only if its landing
// is good both in the state at the beginning of the wave and after the wave's
// other moves, so that it does not matter which replacement is scheduled
// first. Moves that hold in no wave are refused. Hints on nodes belong to a
// wave: all of its moves are judged with all of its hints.
func (p *Planner) intoWaves(c *search) []wavedStep {
	start := c.afresh() // state at the beginning of the wave
	during := c.afresh()
	var out []wavedStep
	rest, gone := c.moves, newLost()
	c.hinted = nil
	for n := 1; len(rest) > 0; n++ {
		taken, left, hinted := fill(start, during, rest, gone)
		if len(taken) == 0 {
			c.refuseRest(during, left, gone)
			break
		}
		for _, m := range taken {
			start.apply(m)
			gone.add(c, m.pod)
			out = append(out, wavedStep{m, n})
		}
		c.hinted = append(c.hinted, hinted)
		rest = left
	}
	c.world, c.goals = during.world, during.goals
	c.moves = c.moves[:0]
	for _, m := range out {
		c.moves = append(c.moves, m.step)
	}
	return out
}

func fill(start, during *search, rest []step, gone *lost) (taken, left []step, hinted []cluster.NodeID) {
	w := newWave(gone)
	both := []*search{start, during}
	for _, m := range rest {
		if !w.room(start, m.pod) {
			left = append(left, m)
			continue
		}
		states := both
		if len(taken) == 0 {
			states = both[1:] // they are the same
		}
		l, ok := join(states, m.pod, hinted)
		if !ok {
			left = append(left, m)
			continue
		}
		m.landing = l
		if len(l.hinted) > len(hinted) && len(taken) > 0 {
			again, ok := replay(both, append(slices.Clone(taken), m), taken, hinted, l.hinted)
			if !ok {
				left = append(left, m)
				continue
			}
			taken, hinted = again, l.hinted
		} else {
			hinted = l.hinted
			hint(both, hinted)
			during.apply(m)
			taken = append(taken, m)
		}
		w.add(start, m.pod)
	}
	hint(both, nil)
	return taken, left, hinted
}

// join lands a move in a wave with the hints that the wave has, or with more.
func join(states []*search, pod cluster.PodID, hinted []cluster.NodeID) (landing, bool) {
	l, _, reason := landings(states, pod, false)
	if reason.Code == "" {
		l.hinted = hinted
		if len(hinted) > 0 {
			hint(states, nil)
			_, _, without := landings(states, pod, false)
			l.steered = without.Code != ""
			hint(states, hinted)
		}
		return l, true
	}
	if !states[0].p.opts.steers() || !steerable(reason.Code) {
		return l, false
	}
	l, why := steer(states, pod, hinted)
	return l, why == ""
}

// replay lands all moves of a wave anew, with more hints than before. When one
// no longer holds, the wave is left as it was.
func replay(both []*search, all, before []step, was, now []cluster.NodeID) ([]step, bool) {
	during := both[1]
	for _, m := range slices.Backward(before) {
		during.undo(m)
	}
	hint(both, now)
	for i, m := range all {
		states := both
		if i == 0 {
			states = both[1:]
		}
		l, _, reason := landings(states, m.pod, false)
		if reason.Code != "" {
			for _, done := range slices.Backward(all[:i]) {
				during.undo(done)
			}
			hint(both, was)
			for _, m := range before {
				during.apply(m)
			}
			return nil, false
		}
		l.hinted, l.steered = now, m.landing.steered
		all[i].landing = l
		during.apply(all[i])
	}
	return all, true
}

func (c *search) undo(m step) {
	c.world.Move(m.pod, m.from)
	c.goals.move(m.pod, m.landing.to, m.from)
}

// refuseRest reports moves that the search accepted in its own order but that
// no wave can hold.
func (c *search) refuseRest(during *search, left []step, gone *lost) {
	for _, m := range left {
		reason, refused := during.check(m.pod)
		if !refused {
			reason, refused = gone.refuse(c, m.pod)
		}
		if !refused {
			_, reason, _ = during.place(m.pod)
		}
		if reason.Code == "" {
			reason = plan.Reason{Code: plan.UncertainLanding, Message: "its landing depends on the order in which others are placed"}
		}
		c.refused.add(c.s, m.pod, c.goals.list[m.goal].Strategy, reason)
		delete(c.moved, m.pod)
		c.limits.uncount(m.pod)
		c.leftOut[m.pod] = true
	}
}
