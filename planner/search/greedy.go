package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// greedyMoves repeatedly makes the move that leaves the least excess. Goals in Goals.First come before others. The
// greedy order often leaves less excess than working on one goal after another. Each move costs a prediction for
// every pod of an unmet goal, which suits clusters of about ten nodes. The first move is for a pod that is not in
// notFirst. greedyMoves returns the pod of its first move, or -1 if no move is possible.
func (c *goalSearch) greedyMoves(notFirst []cluster.PodID) cluster.PodID {
	first := cluster.PodID(-1)
	c.useHints, c.scope = false, anyGoal
	for {
		if !limitsAllowMore(&c.pass) {
			return first
		}
		m, waits := c.greediestMove(notFirst)
		switch {
		case m.pod < 0:
			return first
		case !waits:
			switch a, _ := c.join(m.pod, m.goal); {
			case a == joinsLater && len(c.wave.steps) > 0:
				c.closeWave()
				continue
			case a != joined:
				return first
			}
			if first < 0 {
				first, notFirst = m.pod, nil
			}
		case len(c.wave.steps) == 0:
			return first
		default:
			c.closeWave()
		}
	}
}

// greedyMove is a move with its effect on the remaining excess. Lower values are better.
type greedyMove struct {
	pod   cluster.PodID
	goal  int
	order int
	rank  int
	left  float64
	// stated is the index of a goal that keeps its place in the order of its strategy, and otherwise 0.
	stated int
	cost   float64
}

func (a greedyMove) compare(b greedyMove) int {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.rank, b.rank), cmp.Compare(a.left, b.left),
		cmp.Compare(a.stated, b.stated), cmp.Compare(a.cost, b.cost), cmp.Compare(a.pod, b.pod))
}

// greediestMove returns the best move of any pod that is not excluded. If no move is possible, the pod is -1. If the
// move belongs in the next wave, waits is true.
func (c *goalSearch) greediestMove(excluded []cluster.PodID) (best greedyMove, waits bool) {
	best.pod = -1
	c.round++
	for _, g := range c.Goals.UnmetByPriority(c.unmetAttempts) {
		tried, strategy := c.triedMark(g), c.StrategyOf(g)
		for _, pod := range c.PodsOf(g) {
			from := c.NodeOf(pod)
			if c.Moved[pod] || c.triedIn[pod] == tried || slices.Contains(excluded, pod) || from == cluster.NoNode ||
				!c.Goals.CouldImprove(g, pod, from) {
				continue
			}
			c.triedIn[pod] = tried
			if _, no := c.Refuse(pod, strategy); no {
				continue
			}
			if _, no := c.PredictionLimitReached(); no {
				return greedyMove{pod: -1}, false
			}
			c.SetStrategy(pod, strategy)
			l, _, a := c.landInWave(pod)
			if a == refused {
				continue
			}
			m := greedyMove{pod, g, c.Goals.FirstGoalRank(g), c.Eligibility.Rank(pod), c.Goals.ExcessChange(pod, from, l.To), 0,
				eligibility.EvictionCost(&c.Snapshot.Pods[pod])}
			if c.Goals.InStatedOrder(g) {
				m.stated = g
			}
			if best.pod < 0 || m.compare(best) < 0 {
				best, waits = m, a == joinsLater || !c.wave.CanAdd(c.Eligibility, pod, strategy)
			}
		}
	}
	return best, waits
}
