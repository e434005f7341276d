package search

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

type attemptResult struct {
	moves      []WaveStep
	hinted     [][]cluster.NodeID
	rejections *rejections.Set
	excess     []int64 // by goal
	// excessLeft sums the weighted remaining shares of the initial excess over all requested goals. firstExcessLeft
	// sums only the goals in Goals.First.
	excessLeft, firstExcessLeft float64
	byNamespace                 map[string]namespaceResult // without goals about nodes
	// cutOff says that a limit that namespaces share refused a pod.
	cutOff bool
}

// namespaceResult is the part of excessLeft of the goals of a namespace, and the evictions in the namespace in this
// pass and in the last hour.
type namespaceResult struct {
	excessLeft float64
	evictions  int
}

func (c *pass) currentResult() attemptResult {
	o := attemptResult{c.Moves, c.HintedByWave, c.Rejections.Clone(), make([]int64, len(c.Goals.Goals)), 0, 0,
		map[string]namespaceResult{}, c.Rejections.BySharedLimit()}
	for g := range o.excess {
		o.excess[g] = c.Goals.Excess(g)
		if goal := &c.Goals.Goals[g]; !goal.Constraint {
			share := float64(goal.Weight * float64(o.excess[g]) / float64(c.Goals.InitialExcess[g]))
			o.excessLeft += share
			if c.Goals.First[g] {
				o.firstExcessLeft += share
			}
			if ns := goal.Subject.Namespace; ns != "" {
				o.byNamespace[ns] = namespaceResult{o.byNamespace[ns].excessLeft + share, c.Limits.InNamespace(ns)}
			}
		}
	}
	return o
}

// better reports whether o leaves less excess than the other result. better compares firstExcessLeft, then
// excessLeft, then the number of moves. A result that is unfair to a namespace is better only by firstExcessLeft.
func (o attemptResult) better(than attemptResult) bool {
	if a, b := plan.Round(o.firstExcessLeft), plan.Round(than.firstExcessLeft); a != b {
		return a < b
	}
	a, b := plan.Round(o.excessLeft), plan.Round(than.excessLeft)
	return (a < b || a == b && len(o.moves) < len(than.moves)) && !o.unfair(than)
}

// unfair reports whether limits that namespaces share cut off goals in o, and a namespace leaves more excess than in
// the other result, while a namespace with more evictions leaves less.
func (o attemptResult) unfair(than attemptResult) bool {
	if !o.cutOff {
		return false
	}
	fewest, most := math.MaxInt, 0 // evictions of a namespace that is worse off, and of one that is better off
	for ns, x := range o.byNamespace {
		switch cmp.Compare(plan.Round(x.excessLeft), plan.Round(than.byNamespace[ns].excessLeft)) {
		case 1:
			fewest = min(fewest, x.evictions)
		case -1:
			most = max(most, x.evictions)
		}
	}
	return fewest < most
}

// worseThan reports whether the current state leaves more excess of a requested goal than o.
func (c *pass) worseThan(o attemptResult) bool {
	for g, was := range o.excess {
		if !c.Goals.Goals[g].Constraint && c.Goals.Excess(g) > was {
			return true
		}
	}
	return false
}

// A second attempt costs as much as the first. repeatPredictions limits the predictions of all attempts together,
// multiplied by the number of nodes. At 200 nodes, repeatPredictions allows 20,000 predictions, so clusters of up to
// a few hundred nodes get several attempts.
const (
	maxAttempts       = 6
	repeatPredictions = 4_000_000
	maxFailedAttempts = 2
	maxGreedyStarts   = 8
)

// predictionsForRepeat returns the number of predictions that a plan may reach with a further
// attempt. If the limits allow no more moves for unmet goals, the result is 0, and the next pass
// continues with these goals.
func (c *pass) predictionsForRepeat() int {
	if !limitsAllowMore(c) {
		return 0
	}
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort)
	}
	return most
}

// LimitReached reports whether the search must end, because it has reached limits.maxPredictions or Work.Stopped. The
// reason applies to each remaining pod. The search then keeps the best moves so far.
func (c *pass) LimitReached() (plan.Reason, bool) {
	if c.Snapshot.Work.Stopped() {
		return plan.Reason{Code: plan.PlanTimeReached, Message: fmt.Sprintf(
			"limits.maxPlanTime lets a plan take %s; it was cut short", c.Options.MaxPlanTime)}, true
	}
	most := c.Options.MaxPredictions
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf(
		"limits.maxPredictions lets a plan predict %s; it was cut short", plural.Count(most, "landing"))}, true
}

// PodsOf lists the pods of goal g at the start. For a node goal, the list omits replacements that landed on the node
// during planning or by an earlier move.
func (c *pass) PodsOf(g int) []cluster.PodID {
	if goal := &c.Goals.Goals[g]; goal.Kind == plan.NodeBelow {
		if pods, changed := c.podsLeft[goal.Node]; changed {
			return pods
		}
		return c.Snapshot.Nodes[goal.Node].Pods
	}
	return c.Goals.Goals[g].Pods
}

// evictionsLeft returns how many more evictions for goal g the limits per pass and the hourly
// limits of the cluster allow.
func (c *pass) evictionsLeft(g int) int {
	left := min(c.Limits.PerPass().Left(), c.Limits.HourlyOfCluster().Left())
	if own := c.Limits.OfStrategy(c.StrategyOf(g)); own != nil {
		left = min(left, own.PerPass().Left(), own.HourlyOfCluster().Left())
	}
	return left
}

// finalPassPredictions returns the number of predictions that the final pass may make.
func (c *pass) finalPassPredictions() int {
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort-*c.predictions)
	}
	return most
}

func (c *pass) countNeedless() (count int) {
	for i := range c.Moves {
		if c.isNeedlessAt(i) {
			count++
		}
	}
	return count
}

func (c *pass) isNeedless(m Step) bool {
	return c.Goals.EachAffected(m.Pod, m.Landing.To, m.From, func(i int) bool {
		return c.Goals.Measures[i].ExcessAfter(m.Pod, m.Landing.To, m.From) <= c.Goals.Excess(i)
	})
}

// isDisplacement reports whether move i makes room for move i+1. The first move of a step always precedes the second
// directly.
func (c *pass) isDisplacement(i int) bool {
	return c.Moves[i].Kind == MakeRoom && i+1 < len(c.Moves) && c.Moves[i+1].Pod == c.Moves[i].For.Pod
}

// isNeedlessAt reports whether move i is needless. The first move of a step is needless if the second move is
// needless or missing.
func (c *pass) isNeedlessAt(i int) bool {
	switch {
	case c.isDisplacement(i):
		return c.isNeedless(c.Moves[i+1].Step)
	case c.Moves[i].Kind == MakeRoom:
		return true
	}
	return c.isNeedless(c.Moves[i].Step)
}

// hasUnpairedDisplacement reports whether a step has its first move but not its second.
func (c *pass) hasUnpairedDisplacement() bool {
	for i := range c.Moves {
		if c.Moves[i].Kind == MakeRoom && !c.isDisplacement(i) {
			return true
		}
	}
	return false
}

// dropMove removes the last move from the list without changing the simulation state.
func (c *pass) dropMove() {
	n := len(c.Moves) - 1
	m := c.Moves[n]
	c.Limits.Remove(m.Pod, m.Strategy)
	c.Moved[m.Pod] = false
	c.Moves = c.Moves[:n:n]
	if n == 0 || c.Moves[n-1].Wave < m.Wave {
		c.HintedByWave = c.HintedByWave[:m.Wave-1]
	}
}

// A pass holds the state of one planning pass. The embedded State includes all moves so far.
type pass struct {
	*State
	PlannerState plan.PlannerState
	Now          time.Time
	// Schedulers lists the untrusted schedulers and those with counted bindings.
	Schedulers   []plan.SchedulerState
	Limits       *limits.Counter
	Eligibility  *eligibility.Checker
	Rejections   *rejections.Set
	Moves        []WaveStep
	Moved        []bool             // by pod
	HintedByWave [][]cluster.NodeID // nodes hinted in each wave
	// strategyOfGoal holds, by goal, the index of its strategy. It is nil if no strategy has rules of its own.
	strategyOfGoal []int
	allGoals       []plan.Goal // of every turn
	// orderByPod caches, by pod, the values of orderOf that orderKnown marks.
	orderByPod []cluster.EvictionOrder
	orderKnown []bool
	// localEndpoints caches the results of lastLocalEndpoint by pod. serviceBuffer is for findLocalEndpoint.
	localEndpoints []localEndpoint
	serviceBuffer  []cluster.ServiceID
	// Earlier lists the moves of an earlier search whose predicted result is the start of this one; see StartAfter.
	Earlier []WaveStep
	// podsLeft lists the pods at the start on the nodes that Earlier changes, without replacements.
	podsLeft map[cluster.NodeID][]cluster.PodID
	// Stated lists the goals that count as stated by the strategies; nil means all goals of the search.
	Stated []plan.Goal
}

func newPass(opts *settings.Options, s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) pass {
	opts = opts.WithDiscarded(st.Discarded, now)
	schedulers := opts.Trust.SchedulerStates(s, opts.Placement.Profiles, st.Schedulers)
	c := pass{
		State: newState(opts, s, goals, schedulers, now), PlannerState: st, Now: now, Schedulers: schedulers,
		Limits:     limits.NewCounter(s, opts.Limits, history.CountLastHour(st, now), opts.OpenWindowLimits(now)...),
		Rejections: rejections.New(len(s.Pods)), Moved: make([]bool, len(s.Pods)), allGoals: goals,
	}
	c.Eligibility = eligibility.NewChecker(s, c.Model, st, opts, now)
	c.Eligibility.SetGoals(goals)
	addStrategies(&c)
	c.Goals.Annotations = c.Eligibility.Guards.Annotations
	return c
}

// hintPhases returns the values of Wave.mayHint, in the order in which the search applies them.
func (c *pass) hintPhases() []bool {
	if c.Options.Steers() {
		return []bool{false, true}
	}
	return []bool{false}
}
