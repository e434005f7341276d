package search

import (
	"cmp"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/goal"
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

// displacementMinBenefit is what each eviction of a step must bring: a share of the node that is over
// its target. A step of two evictions takes away at least one percent of a node, or
// brings one pod of a group to another domain, which is the least that a group can gain.
// It does not go by what there was at first, so that the same step is worth as much to a
// plan on the result. Single moves pay once for what they bring; none is asked of them.
const displacementMinBenefit = 0.005

// What bounds the search for steps: a fortieth of the predictions before it, so that it
// takes a few percent of the time, but more where all of it is soon done: displacementPredictions is
// shared out over the nodes, as againEffort is, since the cost of a prediction grows
// with them. That is 10,000 tries on up to 200 nodes and 4,000 on 500: with fewer a plan
// on the result finds steps that this one had no tries left for.
const (
	displacementPredictions = 2_000_000
	displacementShare       = 40
	maxTries                = 10_000
	maxCandidates           = 8 // pods of one goal that others may make room for
	maxTargets              = 8 // nodes for each of them, those that lack least first
	maxDisplaceable         = 4 // pods of each such node
	displacementRounds      = 8 // times that single moves and steps take turns, where any is made
)

func (a displacement) compare(b displacement) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.cost, b.cost), cmp.Compare(a.pod, b.pod), cmp.Compare(a.target, b.target), cmp.Compare(a.displaced, b.displaced))
}

// displacementMoves goes on, by steps, where single moves have come to their end, and by the
// single moves that become possible by them. It reports whether there are any.
func (c *Search) displacementMoves() (some bool) {
	if c.Options.NoSteps || !c.countUnmet() || c.evictionsLeft() < 2 {
		return false
	}
	before := c.result()
	m := &displacementSearch{Search: c, tries: min(maxTries, max(displacementPredictions/max(1, len(c.Snapshot.Nodes)), *c.predictions/displacementShare))}
	c.useHints, c.scope = false, anyGoal
	c.openWave()
	for range displacementRounds {
		if !m.serveAll() {
			break
		}
		some = true
		if len(c.Snapshot.Nodes) <= maxNodesToRepeat {
			c.closeWave()
			c.rounds()
		}
	}
	c.closeWave()
	c.dropNeedlessDisplacements()
	if c.worseThan(before) {
		c.restore(before)
		return false
	}
	return some
}

// maxNodesToRepeat: in larger clusters looking at every pod of unmet goals again, for
// the few places that steps have made, costs as much as the search before them.
const maxNodesToRepeat = 200

// evictionsLeft is how many evictions the limits of the whole pass still allow.
func (c *Search) evictionsLeft() int {
	return min(c.Limits.PerPass().Left(), c.Limits.HourlyOfCluster().Left())
}

// serveAll looks for steps for each unmet goal, in order of need. It reports whether
// it has made any.
func (m *displacementSearch) serveAll() (some bool) {
	for _, g := range m.Goals.ByNeed(m.unmetAttempts) {
		for m.Goals.Excess(g) > 0 && m.tries > 0 && m.evictionsLeft() >= 2 {
			best, found := m.best(g)
			if !found || !m.join(best) {
				break
			}
			some = true
		}
	}
	return some
}

// best finds the step that brings most, of those looked at for one goal.
func (m *displacementSearch) best(g int) (best displacement, found bool) {
	m.landings = map[cluster.PodID]*Landing{}
	for _, p := range m.candidatesFor(g) {
		for _, o := range m.openings(p) {
			if m.tries <= 0 {
				return best, found
			}
			if a, ok := m.predict(o, g); ok && (!found || a.compare(best) < 0) {
				best, found = a, true
			}
		}
	}
	return best, found
}

// candidatesFor are pods whose leaving would serve a goal, and that may leave.
func (m *displacementSearch) candidatesFor(g int) []cluster.PodID {
	m.round++ // all of them were looked at already
	var out []cluster.PodID
	for _, cand := range m.candidates(g) {
		if len(out) == maxCandidates {
			break
		}
		if _, no := m.Refuse(cand.pod); !no {
			out = append(out, cand.pod)
		}
	}
	return out
}

// predict foretells both halves of a step.
func (m *displacementSearch) predict(o opening, g int) (displacement, bool) {
	q := m.displacedLanding(o.displaced)
	if q == nil || !m.limitsAllowBoth(o.displaced, o.pod) {
		return displacement{}, false
	}
	first := Step{Pod: o.displaced, From: o.target, Landing: *q}
	value := -m.Goals.ExcessChange(o.displaced, o.target, q.To)
	from := m.Model.NodeOf(o.pod)
	m.Apply(first)
	m.tries--
	l, _, ok := m.PredictLanding(o.pod)
	ok = ok && l.To == o.target && m.worthTwoEvictions(o.pod, from, l)
	if ok {
		value -= m.Goals.ExcessChange(o.pod, from, l.To)
	}
	m.Undo(first)
	return displacement{o.displaced, o.pod, o.target, g, l.Served, value, eligibility.EvictionCost(&m.Snapshot.Pods[o.displaced]) + eligibility.EvictionCost(&m.Snapshot.Pods[o.pod])}, ok
}

// worthTwoEvictions says whether what the second half of a step brings is worth two evictions.
func (m *displacementSearch) worthTwoEvictions(p cluster.PodID, from cluster.NodeID, l Landing) bool {
	return slices.ContainsFunc(l.Served, func(g int) bool {
		b, ok := m.Goals.Measures[g].(*goal.NodeMeasure)
		return !ok || float64(b.Excess()-b.ExcessAfter(p, from, l.To)) >= 2*displacementMinBenefit*float64(b.Total)
	})
}

// displacedLanding is where the replacement of a pod would go that makes room, as things stand.
func (m *displacementSearch) displacedLanding(q cluster.PodID) *Landing {
	l, known := m.landings[q]
	if !known {
		m.tries--
		if x, _, ok := m.PredictDisplacedLanding(q); ok {
			l = &x
		}
		m.landings[q] = l
	}
	return l
}

// limitsAllowBoth asks the limits about p once q has gone, which may go by itself.
func (m *displacementSearch) limitsAllowBoth(q, p cluster.PodID) bool {
	m.Limits.Add(q)
	_, no := m.Refuse(p)
	m.Limits.Remove(q)
	return !no
}

// join makes a step: q in the wave under way, or the next one, and p in the one after.
// Where something is in the way that was not foreseen, nothing is made.
func (m *displacementSearch) join(a displacement) bool {
	c := m.Search
	if len(c.wave.hinted) > 0 || !c.joinDisplaced(a) {
		c.closeWave()
		if !c.joinDisplaced(a) {
			return false
		}
	}
	c.closeWave()
	if joins, _ := c.join(a.pod, a.goal); joins == joined {
		return true
	}
	c.dropLastMove()
	return false
}

// joinDisplaced lets the first half of a step join the wave under way.
func (c *Search) joinDisplaced(a displacement) bool {
	if !c.wave.Room(c.Eligibility, a.displaced) {
		return false
	}
	l, _, ok := c.PredictDisplacedLanding(a.displaced)
	if ok && len(c.wave.steps) > 0 {
		_, _, ok = c.wave.start.PredictDisplacedLanding(a.displaced)
	}
	if !ok {
		return false
	}
	l.Served, l.Acceptable = a.served, len(c.AcceptableDisplacedNodes(a.displaced, &l))
	l.predicted = prediction.Prediction{}
	st := Step{Pod: a.displaced, From: a.target, Landing: l, goal: a.goal, Displaced: &DisplacedFor{a.pod, a.target}}
	st.MostServed = c.Goals.MostServed(a.pod, c.Model.NodeOf(a.pod), a.served)
	c.Apply(st)
	c.wave.steps = append(c.wave.steps, st)
	c.accept(st)
	return true
}

// dropLastMove takes back the last move, of a wave that is closed.
func (c *Search) dropLastMove() {
	m := c.Moves[len(c.Moves)-1]
	c.dropMove()
	c.wave.start.Undo(m.Step)
	c.Undo(m.Step)
	c.openWave()
}
