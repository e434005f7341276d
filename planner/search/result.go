package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// Result is a finished search.
type Result struct {
	Problem  *Problem // with the cluster and the account at the start
	Snapshot *cluster.Snapshot
	Options  *Options
	End      *Simulation // after the moves
	Account  *Account    // after the moves, with the reasons why other pods stay
	Moves    []WaveStep
	// HintedByWave lists the nodes that are hinted in each wave.
	HintedByWave [][]cluster.NodeID
	// FinalPassGoals lists unmet goals of which the final pass tried every pod again.
	FinalPassGoals []int
	// NotTried is the number of unmet requested goals at which the search did not look before it was cut short.
	NotTried int
	// BeforeGoals says that the search was cut short before all goals were stated.
	BeforeGoals bool
	fixed       []bool // by goal: no pod of it may ever leave
}

// NoMoves returns the result of a search that finds no move.
func (p *Problem) NoMoves() *Result {
	return &Result{Problem: p, Snapshot: p.Start.Snapshot, Options: p.Start.Options, End: p.Start, Account: p.Account}
}

// PodMoves returns all moves that lead from the snapshot to End.
func (r *Result) PodMoves() []goal.PodMove {
	return append(r.Problem.EarlierMoves(), podMoves(r.Moves)...)
}

// CountFixed returns the number of unmet requested goals of which no pod may leave.
func (r *Result) CountFixed() (n int) {
	for g, fixed := range r.fixed {
		if fixed && !r.End.Goals.Goals[g].Constraint && r.End.Goals.Excess(g) > 0 {
			n++
		}
	}
	return n
}

// ListedGoals marks the goals that the plan lists. These are the unmet requested goals. Of goals about single pods, a
// strategy may state one for each pod of the cluster, so the plan lists only those that a move improves and, of each
// strategy, the first others up to the option SamplesPerCode.
func (r *Result) ListedGoals() []bool {
	out, others := make([]bool, len(r.End.Goals.Goals)), map[string]int{}
	for i := range r.Moves {
		for _, g := range r.Moves[i].Landing.ImprovedGoals {
			out[g] = true
		}
	}
	for i := range out {
		g := &r.End.Goals.Goals[i]
		switch {
		case g.ID == "":
			out[i] = false
		case g.Kind != plan.PodAway:
			out[i] = true
		case !out[i] && (r.Options.SamplesPerCode < 0 || others[g.Strategy] < r.Options.SamplesPerCode):
			others[g.Strategy]++
			out[i] = true
		}
	}
	return out
}
