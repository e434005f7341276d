// Package search finds the moves of a plan. It orders candidates, predicts where each
// replacement lands, and joins moves into waves. It never evicts a pod and never writes
// the plan; package summary does.
package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"slices"
	"time"
)

// scope is what a move must be good for to be made now. The search goes through the
// aims in order: an eviction that serves a node and a group at once is one that
// neither of them needs a second time, and a replacement that lands where only one
// of the two is served wastes a pod that could have served both. In 40 of the random
// clusters of package quality this saves 5 % of the evictions.
type scope int

const (
	nodeAndGroup scope = iota // it serves a node, a group, and all that its pod's leaving could
	allGoals                  // it serves all goals that its pod's leaving could
	anyGoal                   // it serves one
	scopes
)

// firstOnlyTurns says whether only the goals that are served first are served, turn by turn.
func (c *Search) firstOnlyTurns() []bool {
	if c.firstAlone {
		return []bool{true, false}
	}
	return []bool{false}
}

// goalsToServe lists the goals that are served now, by need.
func (c *Search) goalsToServe() []int {
	list := c.Goals.ByNeed(c.unmetAttempts)
	if c.onlyFirst {
		return slices.DeleteFunc(list, func(g int) bool { return !c.Goals.First[g] })
	}
	return list
}

// Search is one planning pass under way. Its own scene is that after all moves
// so far.
type Search struct {
	*State
	PlannerState plan.PlannerState
	Now          time.Time
	// Schedulers are those without a profile.
	Schedulers  []plan.SchedulerState
	Limits      *limits.Counter
	hour        history.Hour
	Eligibility *eligibility.Checker
	Rejections  *Rejections
	unmoved     rejectedSinceMove
	Moves       []WaveStep
	Moved       []bool // by pod
	// triedIn is, by pod, the round in which no place was found for it.
	triedIn         []int32
	round           int32
	wave            *wave
	useHints        bool // moves that need hints are looked for
	scope           scope
	firstAlone      bool               // goals that are served first are served by themselves first
	onlyFirst       bool               // only these are served now
	HintedByWave    [][]cluster.NodeID // nodes hinted in each wave
	unmetAttempts   []int              // by goal: attempts that left it unmet
	FinalPassGoals  []int              // unmet goals of which every pod was tried again at the end
	candidateBuffer []candidate
	nodeBuffer      []cluster.NodeID // scratch of countAcceptable
	costByPod       []float64        // by pod; 0: not known yet
}

func NewSearch(opts *settings.Options, s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Search {
	schedulers := opts.Trust.SchedulerStates(s, opts.Placement.Profiles, st.Schedulers)
	c := &Search{
		State: newState(opts, s, goals, schedulers, now), PlannerState: st, Now: now, Schedulers: schedulers, hour: history.LastHour(st, now),
		Rejections: newRejections(len(s.Pods)), Moved: make([]bool, len(s.Pods)), triedIn: make([]int32, len(s.Pods)), unmetAttempts: make([]int, len(goals)),
	}
	c.Limits = limits.NewCounter(s, opts.Limits, c.hour)
	c.Eligibility = eligibility.NewChecker(s, c.Model, st, opts, now)
	c.Goals.Annotations = c.Eligibility.Guards.Annotations
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
			if c.wave.Full() {
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
	refused    joinResult = iota
	joinsLater            // the next wave may have room for it
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
