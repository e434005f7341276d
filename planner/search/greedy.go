package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// greedyMoves repeatedly makes the move that leaves the least excess. Goals in Goals.First come before others. The
// greedy order often leaves less excess than working on one goal after another. Each move costs a prediction for
// every pod of an unmet goal, which suits clusters of about ten nodes. No move is for a pod in never, and the first
// move is for no pod in notFirst either. greedyMoves returns the pod of its first move, or -1 if no move is possible.
func (c *rounds) greedyMoves(never, notFirst []cluster.PodID) cluster.PodID {
	first := cluster.PodID(-1)
	c.waves.current.mayHint, c.waves.scope = false, anyGoal
	for {
		if !c.account.allowsMore() {
			return first
		}
		m := c.greediestMove(slices.Concat(never, notFirst))
		switch {
		case m.pod < 0:
			return first
		case !m.waits:
			switch a, _ := c.waves.join(c.waves.moveFor(m.pod, m.goal), m.goal); {
			case a == Later && len(c.waves.current.steps) > 0:
				c.waves.closeWave()
				continue
			case a != Admitted:
				return first
			}
			if first < 0 {
				first, notFirst = m.pod, nil
			}
		case len(c.waves.current.steps) == 0:
			return first
		default:
			c.waves.closeWave()
		}
	}
}

// variedPredictions limits the predictions of all attempts together, multiplied by the number of nodes, before a varied
// attempt.
const variedPredictions = 200_000

// variedAttempts makes, for each move of the best attempt, an attempt that repeats the moves before it, and then makes
// greedy moves without the pod of the move and those like it. If the result is better, variedAttempts begins again with
// its moves. The greedy order alone keeps a pod whose move spoils a later one.
func (c *search) variedAttempts(unmetPods int, best *attemptResult) {
	most := min(c.predictionsForRepeat(), variedPredictions/max(1, len(c.sim.Snapshot.Nodes)))
	for at := 0; at < len(best.moves) && plan.Round(best.excessLeft) > 0; at++ {
		if c.sim.Snapshot.Work.Stopped() || *c.sim.predictions+unmetPods*(len(best.moves)+1) > most {
			return
		}
		c.rounds.restart()
		c.waves.current.mayHint, c.waves.scope = false, anyGoal
		for rest := stepsOf(best.moves[:at]); len(rest) > 0; {
			rest = c.rounds.repeatMoves(rest)
		}
		c.rounds.greedyMoves(c.problem.podsLike(best.moves[at].Pod), nil)
		c.attempt()
		if o := c.waves.currentResult(); o.better(*best) {
			*best, at = o, -1
		}
	}
}

// podsLike returns the pod and the other pods of its workload on its node.
func (p *Problem) podsLike(pod cluster.PodID) []cluster.PodID {
	s, out := p.Start.Snapshot, []cluster.PodID{pod}
	for _, o := range s.Nodes[s.Pods[pod].Node].Pods {
		if o != pod && s.Pods[o].Workload == s.Pods[pod].Workload && s.Pods[o].Workload != cluster.NoWorkload {
			out = append(out, o)
		}
	}
	return out
}

// greediestMove returns the best move of any pod that is not excluded. If no move is possible, the pod is -1.
func (c *rounds) greediestMove(excluded []cluster.PodID) candidate {
	c.round++
	moves := c.candidateBuffer[:0]
	for _, g := range c.sim.Goals.UnmetByPriority(c.unmetAttempts) {
		tried, strategy := c.triedMark(g), c.account.StrategyOf(g)
		if c.sim.Snapshot.Work.Spend(1 + len(c.problem.PodsOf(g))) {
			return candidate{pod: -1}
		}
		for _, pod := range c.problem.PodsOf(g) {
			from := c.sim.NodeOf(pod)
			if c.waves.moved[pod] || c.triedIn[pod] == tried || slices.Contains(excluded, pod) || from == cluster.NoNode ||
				!c.sim.Goals.CouldImprove(g, pod, from) {
				continue
			}
			c.triedIn[pod] = tried
			m := c.sim.MoveOf(pod, strategy)
			if _, no := c.account.Refuse(m); no {
				continue
			}
			if _, no := c.sim.LimitReached(); no {
				return candidate{pod: -1}
			}
			l, _, a := kinds[m.Kind].rules.land(c.waves.current, m)
			if a == Refused {
				continue
			}
			x := candidate{pod: pod, owner: c.sim.Snapshot.Pods[pod].Workload, rank: 3*c.sim.Goals.FirstGoalRank(g) + c.order.rank(pod),
				benefit: -c.sim.Goals.ExcessChange(pod, from, l.To), EvictionOrder: c.order.orderOf(&c.sim.Snapshot.Pods[pod]),
				goal: g, waits: a == Later || !c.waves.current.InFlight.CanAdd(c.account.Eligibility, pod)}
			if c.sim.Goals.InStatedOrder(g) {
				x.stated = g
			}
			moves = append(moves, x)
		}
	}
	c.candidateBuffer = moves
	if len(moves) == 0 {
		return candidate{pod: -1}
	}
	c.order.sortCandidates(moves)
	return moves[0]
}
