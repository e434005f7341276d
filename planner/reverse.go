package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// replay takes back every move without which all goals stand as well at
// the end as with it: one large pod chosen late can make an earlier one needless.
// The others are then made again, in waves, since their landings may have
// depended on it.
func (c *search) replay() {
	var needed []step
	for i := 0; i < len(c.moves); i++ {
		switch {
		case !c.needlessAt(i):
			needed = append(needed, c.moves[i].step)
		case c.firstHalf(i):
			c.undo(c.moves[i+1].step)
			c.undo(c.moves[i].step)
			i++
		default:
			c.undo(c.moves[i].step)
		}
	}
	c.rewind(needed)
	for len(needed) > 0 {
		needed = c.rejoin(needed)
	}
}

func (c *search) countNeedless() (count int) {
	for i := range c.moves {
		if c.needlessAt(i) {
			count++
		}
	}
	return count
}

func (c *search) needless(m step) bool {
	return c.goals.each(m.pod, m.landing.to, m.from, func(i int) bool {
		return c.goals.at[i].with(m.pod, m.landing.to, m.from) <= c.goals.excess(i)
	})
}

// rewind puts both scenes back to the snapshot; made are the moves that stand in
// the search's own.
func (c *search) rewind(made []step) {
	for _, m := range slices.Backward(made) {
		c.undo(m)
	}
	for _, m := range slices.Backward(c.moves) {
		c.wave.start.undo(m.step)
		c.limits.uncount(m.pod)
		c.moved[m.pod] = false
	}
	c.moves, c.hinted = nil, nil
	c.refused.forgetLimits()
	c.wave = newWave(c.wave.start, newLost(), 1)
	c.round++
}

// outcome is what a search has found.
type outcome struct {
	moves   []wavedStep
	hinted  [][]cluster.NodeID
	refused *refusals
	excess  []int64 // by goal
	// left sums the shares of the goals' excess at first, times their weights; first
	// the same of those that are served first.
	left, first float64
}

func (c *search) outcome() outcome {
	o := outcome{c.moves, c.hinted, c.refused.clone(), make([]int64, len(c.goals.list)), 0, 0}
	for g := range o.excess {
		o.excess[g] = c.goals.excess(g)
		if goal := &c.goals.list[g]; !goal.Constraint {
			share := float64(goal.Weight * float64(o.excess[g]) / float64(c.goals.initial[g]))
			o.left += share
			if c.goals.first[g] {
				o.first += share
			}
		}
	}
	return o
}

// better: less excess is left of what is served first, or else of all, or as much with
// fewer evictions.
func (o outcome) better(than outcome) bool {
	if a, b := plan.Round(o.first), plan.Round(than.first); a != b {
		return a < b
	}
	a, b := plan.Round(o.left), plan.Round(than.left)
	return a < b || a == b && len(o.moves) < len(than.moves)
}

// worseThan reports whether a requested goal is farther from being met.
func (c *search) worseThan(o outcome) bool {
	for g, was := range o.excess {
		if !c.goals.list[g].Constraint && c.goals.excess(g) > was {
			return true
		}
	}
	return false
}

// restore makes the moves of an outcome again, as they were.
func (c *search) restore(o outcome) {
	var made []step
	for _, m := range c.moves {
		made = append(made, m.step)
	}
	c.rewind(made)
	for _, m := range o.moves {
		c.apply(m.step)
		c.wave.start.apply(m.step)
		c.moved[m.pod] = true
		c.limits.count(m.pod)
	}
	c.moves, c.hinted, c.refused = o.moves, o.hinted, o.refused
}

// dropLast takes back needless moves at the end, on which no other depends.
func (c *search) dropLast() {
	for n := len(c.moves) - 1; n >= 0 && c.needlessAt(n); n-- {
		m := c.moves[n]
		c.undo(m.step)
		c.wave.start.undo(m.step)
		c.dropMove()
	}
}

// rejoin makes the moves that one more wave has room for, and returns the rest.
// A move that not even an empty wave can hold is refused.
func (c *search) rejoin(moves []step) (rest []step) {
	for i, m := range moves {
		if c.wave.full() {
			rest = append(rest, moves[i:]...)
			break
		}
		if m.room != nil {
			switch c.rejoinAside(m) {
			case joined:
				rest = append(rest, moves[i+1:]...)
			case later:
				rest = append(rest, moves[i:]...)
			default:
				continue // the other half is judged by itself
			}
			break
		}
		switch a, reason := c.try(m.pod, m.goal); {
		case a == later:
			rest = append(rest, m)
		case a == refused && reason.Code != "":
			c.refused.add(m.pod, c.goals.list[m.goal].Strategy, reason)
		}
	}
	if len(rest) > 0 {
		c.closeWave()
	}
	return rest
}
