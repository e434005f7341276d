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
	c := p.newSearch(s, st, p.withEffect(s, st, goals, now), now)
	before, start := c.DescribeState(), c.Goals.Clone()
	c.Run()
	return p.summarize(c, before, start)
}

// Search is one planning pass under way. Its own scene is that after all moves
// so far.
type Search struct {
	*State
	planner   *Planner
	PlannerState  plan.PlannerState
	Now time.Time
	// Schedulers are those without a profile.
	Schedulers []plan.SchedulerState
	Limits     *Counter
	hour       history.Hour
	Eligibility    *Checker
	Rejections    *Rejections
	unmoved      rejectedSinceMove
	Moves      []WaveStep
	Moved      []bool // by pod
	// triedIn is, by pod, the round in which no place was found for it.
	triedIn []int32
	round   int32
	wave    *wave
	useHints  bool // moves that need hints are looked for
	scope     scope
	firstAlone   bool               // goals that are served first are served by themselves first
	onlyFirst  bool               // only these are served now
	HintedByWave  [][]cluster.NodeID // nodes hinted in each wave
	unmetAttempts   []int              // by goal: attempts that left it unmet
	FinalPassGoals   []int              // unmet goals of which every pod was tried again at the end
	candidateBuffer     []candidate
	nodeBuffer   []cluster.NodeID // scratch of countAcceptable
	costByPod   []float64        // by pod; 0: not known yet
}

// Step is an accepted move inside the search.
type Step struct {
	Pod     cluster.PodID
	From    cluster.NodeID
	Landing Landing
	goal    int // index of the goal that asked for it
	// Benefit is the share of the goals' initial excess that its leaving removes,
	// and most the goal that it serves most, as things stand before it.
	Benefit float64
	MostServed int
	// Displaced is set where it only makes room for another.
	Displaced *DisplacedFor
}

func (p *Planner) newSearch(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Search {
	schedulers := p.opts.Trust.States(s, p.opts.Placement.Profiles, st.Schedulers)
	c := &Search{
		State: p.newState(s, goals, schedulers, now), planner: p, PlannerState: st, Now: now, Schedulers: schedulers, hour: history.LastHour(st, now),
		Rejections: newRejections(len(s.Pods)), Moved: make([]bool, len(s.Pods)), triedIn: make([]int32, len(s.Pods)), unmetAttempts: make([]int, len(goals)),
	}
	c.Limits = NewCounter(s, p.opts.Limits, c.hour)
	c.Eligibility = NewChecker(s, c.Model, st, &p.opts, now)
	c.Goals.Annotations = c.Eligibility.Guards.Asked
	return c
}

// minShareOfMoves: what concerns fewer than one in so many moves is not worth looking at
// every pod again. In a large cluster the last rounds cost as much as the first and
// move next to nothing, and where a few moves are needless all others, made again,
// nearly always end farther from some of the thousands of goals. Up to so many moves
// it is about each of them.
const minShareOfMoves = 200

// passOverGoals serves the goals, first by moves that need no hints, and of these by the
// ones that serve most at once.
func (c *Search) passOverGoals() {
	for _, c.onlyFirst = range c.firstOnlyTurns() {
		for _, c.useHints = range c.hintPhases() {
			for c.scope = range scopes {
				c.rounds()
			}
		}
	}
	c.closeWave()
}

// hintPhases says whether hints are looked for, phase by phase.
func (c *Search) hintPhases() []bool {
	if c.Options.Steers() {
		return []bool{false, true}
	}
	return []bool{false}
}

// rounds serves the goals until a round over all of them moves nothing: a move
// for one goal can make room for another.
func (c *Search) rounds() {
	for again := true; again; {
		c.round++
		was := len(c.Moves)
		c.serveAll(c.goalsToServe())
		_, spent := c.Limits.Exhausted()
		again = len(c.Moves) > was && (len(c.Moves)-was)*minShareOfMoves >= len(c.Moves) && !spent
	}
}

// serveAll serves each goal as far as it goes, the worst first. Goals that wait
// for the next wave come first in it.
func (c *Search) serveAll(todo []int) {
	for len(todo) > 0 {
		var later []int
		for i, g := range todo {
			if c.wave.full() {
				later = append(later, todo[i:]...)
				break
			}
			if c.serveGoal(g) {
				later = append(later, g)
			}
		}
		if todo = later; len(todo) > 0 {
			c.closeWave()
		}
	}
}

// serveGoal moves pods for one goal until it is met or nothing helps. It reports
// whether the goal waits for the next wave.
func (c *Search) serveGoal(g int) (waits bool) {
	c.rejectUnknownUsage(g)
	for c.Goals.Excess(g) > 0 {
		if reason, spent := c.Limits.Exhausted(); spent {
			c.rejectAll(g, reason)
			return false
		}
		switch c.joinBestCandidate(g) {
		case refused:
			return false
		case joinsLater:
			return true
		}
	}
	return false
}

// joinResult is what becomes of a candidate.
type joinResult int

const (
	refused joinResult = iota
	joinsLater          // the next wave may have room for it
	joined
)

// joinBestCandidate tries the candidates of a goal in order of merit until one joins the
// wave. Where the wave has no room for one, those of the same merit may take its
// place.
func (c *Search) joinBestCandidate(g int) joinResult {
	var waits *candidate
	all := c.candidates(g)
	for i := range all {
		cand := &all[i]
		if waits != nil && (cand.rank != waits.rank || cand.benefit < waits.benefit) {
			break
		}
		a, reason := c.tryCandidate(cand.pod, g)
		switch {
		case a == joined:
			return joined
		case a == joinsLater && waits == nil:
			waits = cand
		case a == refused && waits != nil:
			c.triedIn[cand.pod] = 0 // it was only to take another's place
		case a == refused && reason.Code != "":
			c.Rejections.add(cand.pod, c.Goals.Goals[g].Strategy, reason)
		}
	}
	if waits != nil {
		return joinsLater
	}
	return refused
}

// tryCandidate lets a pod join the wave under way if it may leave and its replacement
// lands well. Where it may later, with hints, no reason is given yet.
func (c *Search) tryCandidate(pod cluster.PodID, g int) (joinResult, plan.Reason) {
	if reason, no := c.Refuse(pod); no {
		return refused, reason
	}
	if reason, no := c.PredictionLimitReached(); no {
		return refused, reason
	}
	a, reason := c.join(pod, g)
	if a != refused {
		return a, plan.Reason{}
	}
	c.triedIn[pod] = c.round
	if !c.useHints && c.Options.Steers() && steerable(reason.Code) {
		reason = plan.Reason{}
	}
	return refused, reason
}

// Refuse asks everything that does not depend on the landing.
func (c *Search) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	if reason, refused := c.Eligibility.Refuse(pod); refused {
		return reason, true
	}
	p := &c.Snapshot.Pods[pod]
	// What a plan before this one evicted may not stand in the Job's status yet: that it
	// counts twice where it does is the better mistake.
	if why, fails := guard.JobFails(c.Snapshot, p, c.Limits.planned.ofWorkload(p.Workload)+c.Limits.earlierPlan.ofWorkload(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	if reason, no := c.benefitTooSmall(pod); no {
		return reason, true
	}
	return c.Limits.Refuse(pod)
}
