package planner

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// steepest makes, again and again, the move after which the least excess is left, of
// all that there are, or of those for goals that are served first. Serving goal after goal
// can end where no move helps and yet excess is left; this way ends there less often, and
// costs a prediction for each pod of an unmet goal and move. It fits clusters of some ten
// nodes. It does not begin with these pods, and returns the one that it begins with; -1:
// there is none.
func (c *search) steepest(notFirst []cluster.PodID) cluster.PodID {
	first := cluster.PodID(-1)
	c.steers, c.aim = false, anyGoal
	for {
		if _, spent := c.limits.spent(); spent {
			return first
		}
		m, waits := c.steepestMove(notFirst)
		switch {
		case m.pod < 0:
			return first
		case !waits:
			if a, _ := c.join(m.pod, m.goal); a != joined {
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

// downhill is a move with what it does to the excess that is left: less is better.
type downhill struct {
	pod   cluster.PodID
	goal  int
	order int
	rank  int
	left  float64
	cost  float64
}

func (a downhill) compare(b downhill) int {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.rank, b.rank), cmp.Compare(a.left, b.left), cmp.Compare(a.cost, b.cost), cmp.Compare(a.pod, b.pod))
}

// steepestMove finds the best move, the pod being -1 where there is none. waits says
// that it is for the next wave.
func (c *search) steepestMove(not []cluster.PodID) (best downhill, waits bool) {
	best.pod = -1
	c.round++
	for _, g := range c.goals.byNeed(c.stuck) {
		for _, pod := range c.podsOf(g) {
			from := c.world.NodeOf(pod)
			if c.moved[pod] || c.triedIn[pod] == c.round || slices.Contains(not, pod) || from == cluster.NoNode || !c.goals.couldServe(g, pod, from) {
				continue
			}
			c.triedIn[pod] = c.round
			if _, no := c.check(pod); no {
				continue
			}
			if _, no := c.spentEffort(); no {
				return downhill{pod: -1}, false
			}
			l, _, a := c.landInWave(pod)
			if a == refused {
				continue
			}
			m := downhill{pod, g, c.goals.order(g), c.verdict.rank(pod), c.goals.change(pod, from, l.to), cost(&c.s.Pods[pod])}
			if best.pod < 0 || m.compare(best) < 0 {
				best, waits = m, a == later || !c.wave.room(c, pod)
			}
		}
	}
	return best, waits
}

// change is what a move adds to the shares of requested goals' excess at first, times
// their weights.
func (t *tracker) change(pod cluster.PodID, from, to cluster.NodeID) (sum float64) {
	t.each(pod, from, to, func(i int) bool {
		if g := &t.list[i]; !g.Constraint {
			sum += float64(g.Weight * float64(t.at[i].with(pod, from, to)-t.excess(i)) / float64(t.initial[i]))
		}
		return true
	})
	return sum
}

// steepestAttempts tries this way, each time from another beginning.
func (c *search) steepestAttempts(pull int, best *outcome) {
	var firsts []cluster.PodID
	for range mostBeginnings {
		if !c.noteStuck() || *c.predictions+2*pull*(len(best.moves)+1) > c.mostAgain()/2 {
			return
		}
		c.again()
		first := c.steepest(firsts)
		c.attempt()
		if o := c.outcome(); o.better(*best) {
			*best = o
		}
		if first < 0 {
			return
		}
		firsts = append(firsts, first)
	}
}

// pull is how many pods there are of goals that are unmet.
func (c *search) pull() (pods int) {
	for _, g := range c.goals.byNeed(c.stuck) {
		pods += len(c.podsOf(g))
	}
	return pods
}
