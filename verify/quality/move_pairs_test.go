package quality

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestWhatChainsWouldAdd counts the plans for small clusters that two further moves together could
// improve although no single move can. The first of the two moves may make room or worsen a goal
// temporarily. The test logs the figures and asserts nothing.
func TestWhatChainsWouldAdd(t *testing.T) {
	from, to := seedRange(10, 500)
	stuck, helped := 0, 0
	var left, gained float64
	for seed := from; seed < to; seed++ {
		p := randomProblem(t, seed, 3, 10, 8+seed*7%33)
		g := newExhaustiveSearch(p)
		applyPlanChecked(t, seed, g, p.plan())
		if g.excess() <= g.lowerBound().excess+tolerance || len(g.allowedMoves(score{g.excess(), len(g.steps)})) > 0 {
			continue
		}
		stuck++
		left += g.excess() - g.lowerBound().excess
		if first, second, gain := g.bestPair(); gain > tolerance {
			helped++
			gained += gain
			if *only >= 0 || helped <= 10 {
				t.Logf("seed %d: excess %.3f remains, and two moves remove %.3f: %s", seed, g.excess(), gain,
					formatMoves(p, []podMove{first, second}))
			}
		}
	}
	t.Logf("%d clusters: after %d plans no single move helps, and %.2f of uncertified excess remains; in %d of them two moves remove %.2f",
		to-from, stuck, left, helped, gained)
}

// bestPair returns the two moves that together reduce the excess most without worsening a goal.
// Each replacement must land on one node with enough confidence.
func (g *exhaustiveSearch) bestPair() (first, second podMove, gain float64) {
	before, was := g.goalExcesses(), g.excess()
	for a := range g.s.Pods {
		h, ok := g.likeliestMove(cluster.PodID(a))
		if !ok {
			continue
		}
		g.applyMove(h)
		for b := range g.s.Pods {
			k, ok := g.likeliestMove(cluster.PodID(b))
			if !ok {
				continue
			}
			g.applyMove(k)
			if now := was - g.excess(); now > gain+tolerance && g.noGoalWorse(before) {
				first, second, gain = h, k, now
			}
			g.undoMove()
		}
		g.undoMove()
	}
	return first, second, gain
}

// likeliestMove returns the move of a pod to its likeliest node, even if the move helps no goal. likeliestMove
// returns false unless the prediction is confident enough.
func (g *exhaustiveSearch) likeliestMove(pod cluster.PodID) (podMove, bool) {
	from := g.model.Cluster.NodeOf(pod)
	if g.moved[pod] || !g.mayEvict[pod] || from == cluster.NoNode {
		return podMove{}, false
	}
	pr := g.model.Predict(pod)
	to := pr.LikeliestOf(func(cluster.NodeID) bool { return true })
	if pr.UnsupportedReason != "" || to == cluster.NoNode || to == from || !g.s.Nodes[to].Ready {
		return podMove{}, false
	}
	return podMove{pod, from, to}, pr.Prob(func(n cluster.NodeID) bool { return n == to }) >= g.opts.MinConfidence
}

func (g *exhaustiveSearch) goalExcesses() (out []int64) {
	for _, x := range g.goals {
		out = append(out, x.excess())
	}
	return out
}

func (g *exhaustiveSearch) noGoalWorse(levels []int64) bool {
	for i, x := range g.goals {
		if x.excess() > levels[i] {
			return false
		}
	}
	return true
}
