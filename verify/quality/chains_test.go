package quality

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestWhatChainsWouldAdd says how often a plan for a small cluster leaves excess
// that two moves together would lower though neither may be made by itself: one
// makes room, or moves what is worse off for a while. It asserts nothing: whether
// such steps are worth it is for their figures to say.
func TestWhatChainsWouldAdd(t *testing.T) {
	from, to := count(10, 500)
	stuck, helped := 0, 0
	var left, gained float64
	for seed := from; seed < to; seed++ {
		p := randomProblem(t, seed, 3, 10, 8+seed*7%33)
		g := newExhaustiveSearch(p)
		played(t, seed, g, p.plan())
		if g.excess() <= g.lowerBound().excess+slack || len(g.choices(score{g.excess(), len(g.steps)})) > 0 {
			continue
		}
		stuck++
		left += g.excess() - g.lowerBound().excess
		if first, second, gain := g.pair(); gain > slack {
			helped++
			gained += gain
			if *only >= 0 || helped <= 10 {
				t.Logf("seed %d: %.3f is left, two moves take away %.3f: %s", seed, g.excess(), gain, words(p, []displacement{first, second}))
			}
		}
	}
	t.Logf("%d clusters: %d plans end where no single move helps, with %.2f left that is not certified; in %d of them two moves together do, and take away %.2f", to-from, stuck, left, helped, gained)
}

// pair finds the two moves that lower the excess most and leave no goal worse than
// it is before both. Each replacement must be sure of its one node.
func (g *exhaustiveSearch) pair() (first, second displacement, gain float64) {
	before, was := g.levels(), g.excess()
	for a := range g.s.Pods {
		h, ok := g.certainLanding(cluster.PodID(a))
		if !ok {
			continue
		}
		g.applyMove(h)
		for b := range g.s.Pods {
			k, ok := g.certainLanding(cluster.PodID(b))
			if !ok {
				continue
			}
			g.applyMove(k)
			if now := was - g.excess(); now > gain+slack && g.noneAbove(before) {
				first, second, gain = h, k, now
			}
			g.undoMove()
		}
		g.undoMove()
	}
	return first, second, gain
}

// certainLanding is where the pod's replacement goes, whatever that serves.
func (g *exhaustiveSearch) certainLanding(pod cluster.PodID) (displacement, bool) {
	from := g.world.NodeOf(pod)
	if g.moved[pod] || !g.mayEvict[pod] || from == cluster.NoNode {
		return displacement{}, false
	}
	pr := g.world.Predict(pod)
	to := pr.Likeliest()
	if pr.UnsupportedReason != "" || to == cluster.NoNode || to == from || !g.s.Nodes[to].Ready {
		return displacement{}, false
	}
	return displacement{pod, from, to}, pr.Prob(func(n cluster.NodeID) bool { return n == to }) >= g.opts.MinConfidence
}

func (g *exhaustiveSearch) levels() (out []int64) {
	for _, x := range g.goals {
		out = append(out, x.excess())
	}
	return out
}

func (g *exhaustiveSearch) noneAbove(levels []int64) bool {
	for i, x := range g.goals {
		if x.excess() > levels[i] {
			return false
		}
	}
	return true
}
