package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"slices"
)

// rewind resets the current state and the wave's start to the snapshot. made are the moves in
// the current state, in order.
func (c *Search) rewind(made []Step) {
	for _, m := range slices.Backward(made) {
		c.Undo(m)
	}
	for _, m := range slices.Backward(c.Moves) {
		c.wave.undoClosed(m.Step)
		c.Limits.Remove(m.Pod)
		c.Moved[m.Pod] = false
	}
	c.Moves, c.HintedByWave = nil, nil
	c.Rejections.forgetLimits()
	c.wave = newWave(c.wave.WaveStates, eligibility.NewConsumed(), 1)
	c.round++
}

// attemptResult is the result of one attempt.
type attemptResult struct {
	moves      []WaveStep
	hinted     [][]cluster.NodeID
	rejections *Rejections
	excess     []int64 // by goal
	// excessLeft sums, over requested goals, the weight times the remaining share of the
	// initial excess. firstExcessLeft is the sum over the goals in Goals.First.
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

// better reports whether o leaves less excess than the other result. It compares
// firstExcessLeft, then excessLeft, then the number of moves.
func (o attemptResult) better(than attemptResult) bool {
	if a, b := plan.Round(o.firstExcessLeft), plan.Round(than.firstExcessLeft); a != b {
		return a < b
	}
	a, b := plan.Round(o.excessLeft), plan.Round(than.excessLeft)
	return a < b || a == b && len(o.moves) < len(than.moves)
}

// worseThan reports whether the current state leaves more excess of a requested goal than o.
func (c *Search) worseThan(o attemptResult) bool {
	for g, was := range o.excess {
		if !c.Goals.Goals[g].Constraint && c.Goals.Excess(g) > was {
			return true
		}
	}
	return false
}

// restore replaces the current moves by those of o, unchanged.
func (c *Search) restore(o attemptResult) {
	var made []Step
	for _, m := range c.Moves {
		made = append(made, m.Step)
	}
	c.rewind(made)
	for _, m := range o.moves {
		c.Apply(m.Step)
		c.wave.applyClosed(m.Step)
		c.Moved[m.Pod] = true
		c.Limits.Add(m.Pod)
	}
	c.Moves, c.HintedByWave, c.Rejections = o.moves, o.hinted, o.rejections
}
