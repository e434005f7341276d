// Package planner turns goals into a plan: the fewest evictions whose
// replacements are predicted to land where the goals are better served.
//
// It decides which pods move, in which order and in which waves, proves how
// few evictions could have done, and gives every refusal a reason. It never
// evicts, never asks an API server and never reads a clock: the same snapshot,
// state, goals, options and time give the same bytes.
package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// validity is how long after its making a plan may be carried out.
const validity = 15 * time.Minute

// Planner plans with fixed options.
type Planner struct{ opts Options }

// New returns a planner.
func New(opts Options) *Planner { return &Planner{opts} }

// Plan answers the goals. Cost: in each round of an attempt at most one landing prediction per
// pod whose leaving could serve a goal, and two per move.
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	c := p.newSearch(s, st, p.asked(s, st, goals, now), now)
	before, start := c.state(), c.goals.clone()
	c.run()
	return p.assemble(c, before, start)
}

// search is one planning pass under way. Its own scene is that after all moves
// so far.
type search struct {
	*scene
	p   *Planner
	st  plan.PlannerState
	now time.Time
	// schedulers are those without a profile.
	schedulers []plan.SchedulerState
	limits     *limits
	hour       history.Hour
	verdict    *verdicts
	refused    *refusals
	stays      unmoved
	moves      []wavedStep
	moved      []bool // by pod
	// triedIn is, by pod, the round in which no place was found for it.
	triedIn []int32
	round   int32
	wave    *wave
	steers  bool // moves that need hints are looked for
	aim     aim
	alone   bool               // goals that are served first are served by themselves first
	onlySo  bool               // only these are served now
	hinted  [][]cluster.NodeID // nodes hinted in each wave
	stuck   []int              // by goal: attempts that left it unmet
	still   []int              // unmet goals of which every pod was tried again at the end
	buf     []candidate
	spots   []cluster.NodeID // scratch of countAcceptable
	costs   []float64        // by pod; 0: not known yet
	next    cluster.PodID    // the candidate after this one; -1: not known
}

// step is an accepted move inside the search.
type step struct {
	pod     cluster.PodID
	from    cluster.NodeID
	landing landing
	goal    int // index of the goal that asked for it
	// gain is the share of the goals' initial excess that its leaving removes,
	// and most the goal that it serves most, as things stand before it.
	gain float64
	most int
	// room is set where it only makes room for another.
	room *roomFor
}

func (p *Planner) newSearch(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *search {
	schedulers := p.opts.Shadow.SchedulerStates(s, p.opts.Placement.Profiles, st.Schedulers)
	c := &search{
		scene: p.newScene(s, goals, schedulers, now), p: p, st: st, now: now, schedulers: schedulers, hour: history.LastHour(st, now),
		refused: newRefusals(len(s.Pods)), moved: make([]bool, len(s.Pods)), triedIn: make([]int32, len(s.Pods)), stuck: make([]int, len(goals)),
	}
	c.limits = newLimits(s, p.opts.Limits, c.hour)
	c.verdict = newVerdicts(s, c.world, st, &p.opts, now)
	c.goals.asked = c.verdict.guard.Annotations
	return c
}

// worthwhile: what concerns fewer than one in so many moves is not worth looking at
// every pod again. In a large cluster the last rounds cost as much as the first and
// move next to nothing, and where a few moves are needless all others, made again,
// nearly always end farther from some of the thousands of goals. Up to so many moves
// it is about each of them.
const worthwhile = 200

// pass serves the goals, first by moves that need no hints, and of these by the
// ones that serve most at once.
func (c *search) pass() {
	for _, c.onlySo = range c.turns() {
		for _, c.steers = range c.phases() {
			for c.aim = range aims {
				c.rounds()
			}
		}
	}
	c.closeWave()
}

// phases says whether hints are looked for, phase by phase.
func (c *search) phases() []bool {
	if c.opts.steers() {
		return []bool{false, true}
	}
	return []bool{false}
}

// rounds serves the goals until a round over all of them moves nothing: a move
// for one goal can make room for another.
func (c *search) rounds() {
	for again := true; again; {
		c.round++
		was := len(c.moves)
		c.serveAll(c.todo())
		_, spent := c.limits.spent()
		again = len(c.moves) > was && (len(c.moves)-was)*worthwhile >= len(c.moves) && !spent
	}
}

// serveAll serves each goal as far as it goes, the worst first. Goals that wait
// for the next wave come first in it.
func (c *search) serveAll(todo []int) {
	for len(todo) > 0 {
		var later []int
		for i, g := range todo {
			if c.wave.full() {
				later = append(later, todo[i:]...)
				break
			}
			if c.serve(g) {
				later = append(later, g)
			}
		}
		if todo = later; len(todo) > 0 {
			c.closeWave()
		}
	}
}

// serve moves pods for one goal until it is met or nothing helps. It reports
// whether the goal waits for the next wave.
func (c *search) serve(g int) (waits bool) {
	c.refuseUnknown(g)
	for c.goals.excess(g) > 0 {
		if reason, spent := c.limits.spent(); spent {
			c.refuseAll(g, reason)
			return false
		}
		switch c.best(g) {
		case refused:
			return false
		case later:
			return true
		}
	}
	return false
}

// answer is what becomes of a candidate.
type answer int

const (
	refused answer = iota
	later          // the next wave may have room for it
	joined
)

// best tries the candidates of a goal in order of merit until one joins the
// wave. Where the wave has no room for one, those of the same merit may take its
// place.
func (c *search) best(g int) answer {
	var waits *candidate
	all := c.candidates(g)
	for i := range all {
		cand := &all[i]
		if waits != nil && (cand.rank != waits.rank || cand.benefit < waits.benefit) {
			break
		}
		c.next = c.afterwards(all[i+1:])
		a, reason := c.try(cand.pod, g)
		switch {
		case a == joined:
			return joined
		case a == later && waits == nil:
			waits = cand
		case a == refused && waits != nil:
			c.triedIn[cand.pod] = 0 // it was only to take another's place
		case a == refused && reason.Code != "":
			c.refused.add(cand.pod, c.goals.list[g].Strategy, reason)
		}
	}
	if waits != nil {
		return later
	}
	return refused
}

// afterwards is the first of these candidates whose landing would be asked for; -1: none,
// or nobody wants to know.
func (c *search) afterwards(list []candidate) cluster.PodID {
	for i := range list {
		if c.ahead == nil {
			break
		}
		if _, stays := c.verdict.of(list[i].pod); !stays {
			return list[i].pod
		}
	}
	return -1
}

// try lets a pod join the wave under way if it may leave and its replacement
// lands well. Where it may later, with hints, no reason is given yet.
func (c *search) try(pod cluster.PodID, g int) (answer, plan.Reason) {
	if reason, no := c.check(pod); no {
		return refused, reason
	}
	if reason, no := c.spentEffort(); no {
		return refused, reason
	}
	a, reason := c.join(pod, g)
	if a != refused {
		return a, plan.Reason{}
	}
	c.triedIn[pod] = c.round
	if !c.steers && c.opts.steers() && steerable(reason.Code) {
		reason = plan.Reason{}
	}
	return refused, reason
}

// check asks everything that does not depend on the landing.
func (c *search) check(pod cluster.PodID) (plan.Reason, bool) {
	if reason, refused := c.verdict.of(pod); refused {
		return reason, true
	}
	p := &c.s.Pods[pod]
	// What a plan before this one evicted may not stand in the Job's status yet: that it
	// counts twice where it does is the better mistake.
	if why, fails := guard.JobFails(c.s, p, c.limits.planned.owner(p.Workload)+c.limits.before.owner(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	if reason, no := c.tooLittle(pod); no {
		return reason, true
	}
	return c.limits.refuse(pod)
}
