package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Where no single move helps any more, and goals are unmet, the search looks for steps
// of two: q leaves a node, though that serves no goal, and p, whose leaving serves one,
// lands where q stood. Each half is safe by itself:
//
//	wave k     q leaves t    its replacement harms no goal wherever it is likely to land
//	wave k+1   p leaves h    its replacement is foretold on t, since q is gone from it
//
// A step cut after its first half has harmed no goal, broken no budget, and cost an
// eviction. It is a swap where q lands on h. Steps of three are not looked for: each
// further pod multiplies both the search and what an eviction in vain costs.

// stepFloor is what each eviction of a step must bring: a share of the node that is over
// its target. A step of two evictions takes away at least one percent of a node, or
// brings one pod of a group to another domain, which is the least that a group can gain.
// It does not go by what there was at first, so that the same step is worth as much to a
// plan on the result. Single moves pay once for what they bring; none is asked of them.
const stepFloor = 0.005

// What bounds the search for steps: a fortieth of the predictions before it, so that it
// takes a few percent of the time, but more where all of it is soon done: stepEffort is
// shared out over the nodes, as againEffort is, since the cost of a prediction grows
// with them. That is 10,000 tries on up to 200 nodes and 4,000 on 500: with fewer a plan
// on the result finds steps that this one had no tries left for.
const (
	stepEffort  = 2_000_000
	stepShare   = 40
	mostTries   = 10_000
	mostMovers  = 8 // pods of one goal that others may make room for
	mostTargets = 8 // nodes for each of them, those that lack least first
	mostAside   = 4 // pods of each such node
	stepRounds  = 8 // times that single moves and steps take turns, where any is made
)

// makers makes steps.
type makers struct {
	*search
	tries int
	// asides are where replacements of pods that would make room go, as things stand;
	// nil: nowhere that does no harm.
	asides map[cluster.PodID]*landing
}

// aside is a step of two: q makes room on node t for p, which serves goal g.
type aside struct {
	q, p   cluster.PodID
	t      cluster.NodeID
	g      int
	served []int   // by p
	value  float64 // goals' worth of excess that it takes away
	cost   float64
}

func (a aside) compare(b aside) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.cost, b.cost), cmp.Compare(a.p, b.p), cmp.Compare(a.t, b.t), cmp.Compare(a.q, b.q))
}

// takeSteps goes on, by steps, where single moves have come to their end, and by the
// single moves that become possible by them. It reports whether there are any.
func (c *search) takeSteps() (some bool) {
	if c.p.opts.NoSteps || !c.noteStuck() || c.leftOfPass() < 2 {
		return false
	}
	before := c.outcome()
	m := &makers{search: c, tries: min(mostTries, max(stepEffort/max(1, len(c.s.Nodes)), *c.predictions/stepShare))}
	c.steers, c.aim = false, anyGoal
	c.openWave()
	for range stepRounds {
		if !m.serveAll() {
			break
		}
		some = true
		if len(c.s.Nodes) <= mostNodesAgain {
			c.closeWave()
			c.rounds()
		}
	}
	c.closeWave()
	c.dropSteps()
	if c.worseThan(before) {
		c.restore(before)
		return false
	}
	return some
}

// mostNodesAgain: in larger clusters looking at every pod of unmet goals again, for
// the few places that steps have made, costs as much as the search before them.
const mostNodesAgain = 200

// leftOfPass is how many evictions the limits of the whole pass still allow.
func (c *search) leftOfPass() int {
	return min(c.limits.ofPass().left(), c.limits.hourlyOfCluster().left())
}

// serveAll looks for steps for each unmet goal, in order of need. It reports whether
// it has made any.
func (m *makers) serveAll() (some bool) {
	for _, g := range m.goals.byNeed(m.stuck) {
		for m.goals.excess(g) > 0 && m.tries > 0 && m.leftOfPass() >= 2 {
			best, found := m.best(g)
			if !found || !m.make(best) {
				break
			}
			some = true
		}
	}
	return some
}

// best finds the step that brings most, of those looked at for one goal.
func (m *makers) best(g int) (best aside, found bool) {
	m.asides = map[cluster.PodID]*landing{}
	for _, p := range m.movers(g) {
		for _, o := range m.openings(p) {
			if m.tries <= 0 {
				return best, found
			}
			if a, ok := m.judge(o, g); ok && (!found || a.compare(best) < 0) {
				best, found = a, true
			}
		}
	}
	return best, found
}

// movers are pods whose leaving would serve a goal, and that may leave.
func (m *makers) movers(g int) []cluster.PodID {
	m.round++ // all of them were looked at already
	var out []cluster.PodID
	for _, cand := range m.candidates(g) {
		if len(out) == mostMovers {
			break
		}
		if _, no := m.check(cand.pod); !no {
			out = append(out, cand.pod)
		}
	}
	return out
}

// judge foretells both halves of a step.
func (m *makers) judge(o opening, g int) (aside, bool) {
	q := m.asideOf(o.q)
	if q == nil || !m.bothMay(o.q, o.p) {
		return aside{}, false
	}
	first := step{pod: o.q, from: o.t, landing: *q}
	value := -m.goals.change(o.q, o.t, q.to)
	from := m.world.NodeOf(o.p)
	m.apply(first)
	m.tries--
	l, _, ok := m.land(o.p)
	ok = ok && l.to == o.t && m.paysOff(o.p, from, l)
	if ok {
		value -= m.goals.change(o.p, from, l.to)
	}
	m.undo(first)
	return aside{o.q, o.p, o.t, g, l.served, value, cost(&m.s.Pods[o.q]) + cost(&m.s.Pods[o.p])}, ok
}

// paysOff says whether what the second half of a step brings is worth two evictions.
func (m *makers) paysOff(p cluster.PodID, from cluster.NodeID, l landing) bool {
	return slices.ContainsFunc(l.served, func(g int) bool {
		b, ok := m.goals.at[g].(*below)
		return !ok || float64(b.excess()-b.with(p, from, l.to)) >= 2*stepFloor*float64(b.total)
	})
}

// asideOf is where the replacement of a pod would go that makes room, as things stand.
func (m *makers) asideOf(q cluster.PodID) *landing {
	l, known := m.asides[q]
	if !known {
		m.tries--
		if x, _, ok := m.landAside(q); ok {
			l = &x
		}
		m.asides[q] = l
	}
	return l
}

// bothMay asks the limits about p once q has gone, which may go by itself.
func (m *makers) bothMay(q, p cluster.PodID) bool {
	m.limits.count(q)
	_, no := m.check(p)
	m.limits.uncount(q)
	return !no
}

// make makes a step: q in the wave under way, or the next one, and p in the one after.
// Where something is in the way that was not foreseen, nothing is made.
func (m *makers) make(a aside) bool {
	c := m.search
	if len(c.wave.hinted) > 0 || !c.joinAside(a) {
		c.closeWave()
		if !c.joinAside(a) {
			return false
		}
	}
	c.closeWave()
	if joins, _ := c.join(a.p, a.g); joins == joined {
		return true
	}
	c.takeBack()
	return false
}

// joinAside lets the first half of a step join the wave under way.
func (c *search) joinAside(a aside) bool {
	if !c.wave.room(c, a.q) {
		return false
	}
	l, _, ok := c.landAside(a.q)
	if ok && len(c.wave.steps) > 0 {
		_, _, ok = c.wave.start.landAside(a.q)
	}
	if !ok {
		return false
	}
	l.served, l.acceptable = a.served, len(c.acceptableAside(a.q, &l))
	l.predicted = prediction.Prediction{}
	st := step{pod: a.q, from: a.t, landing: l, goal: a.g, room: &roomFor{a.p, a.t}}
	st.most = c.goals.servedMost(a.p, c.world.NodeOf(a.p), a.served)
	c.apply(st)
	c.wave.steps = append(c.wave.steps, st)
	c.accept(st)
	return true
}

// takeBack takes back the last move, of a wave that is closed.
func (c *search) takeBack() {
	m := c.moves[len(c.moves)-1]
	c.dropMove()
	c.wave.start.undo(m.step)
	c.undo(m.step)
	c.openWave()
}

// roomFor says for which pod a move makes room, and where.
type roomFor struct {
	pod cluster.PodID
	on  cluster.NodeID
}

// makesRoom describes a move that only makes room.
func (c *search) makesRoom(m *plan.Move, st step) {
	p := podRef(&c.s.Pods[st.room.pod])
	m.DisplacedFor = &p
	m.Reason = plan.Reason{Code: plan.DisplacedForMove, Message: fmt.Sprintf("%s can move to %s, which serves %s, once it has left", p, c.s.Nodes[st.room.on].Name, m.Goals[0])}
}
