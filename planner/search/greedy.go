package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// greedyMoves repeatedly makes the move that leaves the least excess. Goals in Goals.First come before others. The
// greedy order often leaves less excess than working on one goal after another. Each move costs a prediction for
// every pod of an unmet goal, which suits clusters of about ten nodes. The first move is for a pod that is not in
// notFirst. greedyMoves returns the pod of its first move, or -1 if no move is possible.
func (c *goalSearch) greedyMoves(notFirst []cluster.PodID) cluster.PodID {
	first := cluster.PodID(-1)
	c.wave.mayHint, c.scope = false, anyGoal
	for {
		if !limitsAllowMore(&c.pass) {
			return first
		}
		m := c.greediestMove(notFirst)
		switch {
		case m.pod < 0:
			return first
		case !m.waits:
			switch a, _ := c.join(m.pod, m.goal); {
			case a == Later && len(c.wave.steps) > 0:
				c.closeWave()
				continue
			case a != Admitted:
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

// greediestMove returns the best move of any pod that is not excluded. If no move is possible, the pod is -1.
func (c *goalSearch) greediestMove(excluded []cluster.PodID) candidate {
	c.round++
	moves := c.candidateBuffer[:0]
	for _, g := range c.Goals.UnmetByPriority(c.unmetAttempts) {
		tried, strategy := c.triedMark(g), c.StrategyOf(g)
		if c.Snapshot.Work.Spend(1 + len(c.PodsOf(g))) {
			return candidate{pod: -1}
		}
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
			if _, no := c.LimitReached(); no {
				return candidate{pod: -1}
			}
			l, _, a := c.wave.land(c.MoveOf(pod, strategy))
			if a == Refused {
				continue
			}
			m := candidate{pod: pod, owner: c.Snapshot.Pods[pod].Workload, rank: 3*c.Goals.FirstGoalRank(g) + c.rank(pod),
				benefit: -c.Goals.ExcessChange(pod, from, l.To), EvictionOrder: c.orderOf(&c.Snapshot.Pods[pod]),
				goal: g, waits: a == Later || !c.wave.InFlight.CanAdd(c.Eligibility, pod, strategy)}
			if c.Goals.InStatedOrder(g) {
				m.stated = g
			}
			moves = append(moves, m)
		}
	}
	c.candidateBuffer = moves
	if len(moves) == 0 {
		return candidate{pod: -1}
	}
	c.sortCandidates(moves)
	return moves[0]
}
