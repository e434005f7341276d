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
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/guard"
)

// validity is how long after its making a plan may be carried out.
const validity = 15 * time.Minute

// Planner plans with fixed options.
type Planner struct{ opts Options }

// New returns a planner.
func New(opts Options) *Planner { return &Planner{opts} }

// Plan answers the goals. Cost: one landing prediction per candidate pod until
// the goals are met or limits are reached, O(candidates x nodes).
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	goals = number(s, goals)
	sch := p.newSearch(s, st, goals, now)
	return p.assemble(sch, p.solve(sch))
}

// maxRounds bounds how often the search goes on after waves left moves out.
const maxRounds = 5

// solve finds the moves and cuts them into waves. Where no wave can hold a move,
// others may serve its goal, and are looked at in a further round.
func (p *Planner) solve(c *search) []wavedStep {
	for round := 1; ; round++ {
		c.run()
		c.dropUnneeded()
		was := len(c.leftOut)
		steps := p.intoWaves(c)
		if len(c.leftOut) == was || round == maxRounds {
			return steps
		}
	}
}

// search is one planning pass under way.
type search struct {
	p   *Planner
	s   *cluster.Snapshot
	st  plan.PlannerState
	now time.Time
	// schedulers are those without a profile.
	schedulers []plan.SchedulerState
	world      *placement.World
	goals      *tracker
	limits     *limits
	verdict    *verdicts
	refused    *refusals
	moves      []step
	moved      map[cluster.PodID]bool
	leftOut    map[cluster.PodID]bool // moves that no wave can hold
	steer      *steering
	steers     bool               // moves that need hints are looked for
	hinted     [][]cluster.NodeID // nodes hinted in each wave
}

// step is an accepted move inside the search.
type step struct {
	pod     cluster.PodID
	from    cluster.NodeID
	landing landing
	goal    int // index of the goal that asked for it
	benefit float64
}

func (p *Planner) newSearch(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *search {
	c := &search{p: p, s: s, st: st, now: now, schedulers: p.opts.Shadow.States(s, p.opts.Placement.Profiles, st.Schedulers)}
	c.begin(goals)
	c.verdict = newVerdicts(s, c.world, st, &p.opts, now)
	c.steer = newSteering(s, &p.opts)
	return c
}

// begin puts the search at the snapshot, nothing moved.
func (c *search) begin(goals []plan.Goal) {
	o := c.p.opts.Placement
	o.Profiles = c.p.opts.Shadow.Profiles(o.Profiles, c.schedulers)
	c.world = placement.NewWorld(c.s, o)
	c.goals = newTracker(c.s, c.world, goals)
	c.limits = newLimits(c.s, c.p.opts.Limits)
	c.refused = newRefusals()
	c.moved, c.leftOut = map[cluster.PodID]bool{}, map[cluster.PodID]bool{}
}

// afresh is another search from the snapshot. Verdicts do not depend on moves
// and are shared.
func (c *search) afresh() *search {
	other := &search{p: c.p, s: c.s, st: c.st, now: c.now, schedulers: c.schedulers, verdict: c.verdict, steer: c.steer}
	other.begin(c.goals.list)
	return other
}

// run serves the goals one after the other, the worst first, until a round over
// all of them moves nothing: a move for one goal can make room for another.
// Moves that need hints on nodes come last: what limits allow goes to moves that
// need none first.
func (c *search) run() {
	for _, c.steers = range [...]bool{false, true} {
		for again := !c.steers || c.p.opts.steers(); again; {
			again = false
			for _, g := range c.goals.byNeed() {
				if c.serve(g) {
					again = true
				}
			}
		}
	}
}

// serve moves pods for one goal until it is met or nothing helps.
func (c *search) serve(g int) (moved bool) {
	for c.goals.excess(g) > 0 {
		m, ok := c.best(g)
		if !ok {
			return moved
		}
		c.accept(m)
		moved = true
	}
	return moved
}

// best tries the candidates of a goal in order of merit and returns the first
// that may leave and whose replacement lands well.
func (c *search) best(g int) (step, bool) {
	land := c.land
	if c.steers {
		land = c.place
	}
	for _, cand := range c.candidates(g) {
		if reason, refused := c.check(cand.pod); refused {
			c.refused.add(c.s, cand.pod, c.goals.list[g].Strategy, reason)
			continue
		}
		l, reason, ok := land(cand.pod)
		switch {
		case ok:
			return step{cand.pod, c.world.NodeOf(cand.pod), l, g, cand.benefit}, true
		case c.steers || !c.p.opts.steers() || !steerable(reason.Code): // else its turn comes
			c.refused.add(c.s, cand.pod, c.goals.list[g].Strategy, reason)
		}
	}
	return step{}, false
}

// check asks everything that does not depend on the landing.
func (c *search) check(pod cluster.PodID) (plan.Reason, bool) {
	if reason, refused := c.verdict.of(pod); refused {
		return reason, true
	}
	p := &c.s.Pods[pod]
	if why, fails := guard.JobFails(c.s, p, c.limits.planned.owner[p.Workload]); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	return c.limits.refuse(pod)
}

func (c *search) accept(m step) {
	c.apply(m)
	c.moves = append(c.moves, m)
	c.moved[m.pod] = true
	c.limits.count(m.pod)
	c.refused.remove(m.pod)
}

func (c *search) apply(m step) {
	c.world.Move(m.pod, m.landing.to)
	c.goals.move(m.pod, m.from, m.landing.to)
}
