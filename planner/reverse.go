package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// dropNeedless takes back every move without which all goals stand as well at
// the end as with it: one large pod chosen late can make an earlier one needless.
// The others are then made again, in waves, since their landings may have
// depended on it.
func (c *Search) dropNeedless() {
	var needed []Step
	for i := 0; i < len(c.Moves); i++ {
		switch {
		case !c.needlessAt(i):
			needed = append(needed, c.Moves[i].Step)
		case c.isDisplacement(i):
			c.Undo(c.Moves[i+1].Step)
			c.Undo(c.Moves[i].Step)
			i++
		default:
			c.Undo(c.Moves[i].Step)
		}
	}
	c.rewind(needed)
	for len(needed) > 0 {
		needed = c.rejoin(needed)
	}
}

func (c *Search) countNeedless() (count int) {
	for i := range c.Moves {
		if c.needlessAt(i) {
			count++
		}
	}
	return count
}

func (c *Search) needless(m Step) bool {
	return c.Goals.EachAffected(m.Pod, m.Landing.To, m.From, func(i int) bool {
		return c.Goals.Measures[i].ExcessAfter(m.Pod, m.Landing.To, m.From) <= c.Goals.Excess(i)
	})
}

// rewind puts both scenes back to the snapshot; made are the moves that stand in
// the search's own.
func (c *Search) rewind(made []Step) {
	for _, m := range slices.Backward(made) {
		c.Undo(m)
	}
	for _, m := range slices.Backward(c.Moves) {
		c.wave.start.Undo(m.Step)
		c.Limits.Remove(m.Pod)
		c.Moved[m.Pod] = false
	}
	c.Moves, c.HintedByWave = nil, nil
	c.Rejections.forgetLimits()
	c.wave = newWave(c.wave.start, NewConsumed(), 1)
	c.round++
}

// attemptResult is what a search has found.
type attemptResult struct {
	moves   []WaveStep
	hinted  [][]cluster.NodeID
	rejections *Rejections
	excess  []int64 // by goal
	// excessLeft sums the shares of the goals' excess at first, times their weights; first
	// the same of those that are served first.
	excessLeft, firstExcessLeft float64
}

func (c *Search) result() attemptResult {
	o := attemptResult{c.Moves, c.HintedByWave, c.Rejections.clone(), make([]int64, len(c.Goals.Goals)), 0, 0}
	for g := range o.excess {
		o.excess[g] = c.Goals.Excess(g)
		if goal := &c.Goals.Goals[g]; !goal.Constraint {
			share := float64(goal.Weight * float64(o.excess[g]) / float64(c.Goals.InitialExcess[g]))
			o.excessLeft += share
			if c.Goals.First[g] {
				o.firstExcessLeft += share
			}
		}
	}
	return o
}

// better: less excess is left of what is served first, or else of all, or as much with
// fewer evictions.
func (o attemptResult) better(than attemptResult) bool {
	if a, b := plan.Round(o.firstExcessLeft), plan.Round(than.firstExcessLeft); a != b {
		return a < b
	}
	a, b := plan.Round(o.excessLeft), plan.Round(than.excessLeft)
	return a < b || a == b && len(o.moves) < len(than.moves)
}

// worseThan reports whether a requested goal is farther from being met.
func (c *Search) worseThan(o attemptResult) bool {
	for g, was := range o.excess {
		if !c.Goals.Goals[g].Constraint && c.Goals.Excess(g) > was {
			return true
		}
	}
	return false
}

// restore makes the moves of an outcome again, as they were.
func (c *Search) restore(o attemptResult) {
	var made []Step
	for _, m := range c.Moves {
		made = append(made, m.Step)
	}
	c.rewind(made)
	for _, m := range o.moves {
		c.Apply(m.Step)
		c.wave.start.Apply(m.Step)
		c.Moved[m.Pod] = true
		c.Limits.Add(m.Pod)
	}
	c.Moves, c.HintedByWave, c.Rejections = o.moves, o.hinted, o.rejections
}

// dropLast takes back needless moves at the end, on which no other depends.
func (c *Search) dropLast() {
	for n := len(c.Moves) - 1; n >= 0 && c.needlessAt(n); n-- {
		m := c.Moves[n]
		c.Undo(m.Step)
		c.wave.start.Undo(m.Step)
		c.dropMove()
	}
}

// rejoin makes the moves that one more wave has room for, and returns the rest.
// A move that not even an empty wave can hold is refused.
func (c *Search) rejoin(moves []Step) (rest []Step) {
	for i, m := range moves {
		if c.wave.full() {
			rest = append(rest, moves[i:]...)
			break
		}
		if m.Displaced != nil {
			switch c.rejoinDisplaced(m) {
			case joined:
				rest = append(rest, moves[i+1:]...)
			case joinsLater:
				rest = append(rest, moves[i:]...)
			default:
				continue // the other half is judged by itself
			}
			break
		}
		switch a, reason := c.tryCandidate(m.Pod, m.goal); {
		case a == joinsLater:
			rest = append(rest, m)
		case a == refused && reason.Code != "":
			c.Rejections.add(m.Pod, c.Goals.Goals[m.goal].Strategy, reason)
		}
	}
	if len(rest) > 0 {
		c.closeWave()
	}
	return rest
}
