package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// GoalsFor returns the goals for planning or executing the moves of the strategies in one mode:
//   - Goals of strategies in this mode stay as they are.
//   - Other goals of automatic and approve strategies become constraints.
//   - Other goals of dryRun strategies are left out, so they constrain no move that is executed.
//
// The goals are not changed, and calling GoalsFor twice with the same mode gives the same goals.
func GoalsFor(mode plan.StrategyMode, goals []plan.Goal) []plan.Goal {
	out := make([]plan.Goal, 0, len(goals))
	for _, g := range goals {
		switch of := modeOf(g); {
		case of == mode:
		case of == plan.ShowOnly:
			continue
		default:
			g.Constraint, g.Wait = true, plan.Reason{} // a constraint does not wait for anything
		}
		out = append(out, g)
	}
	return out
}

// modeOf returns the mode of the goal's strategy.
func modeOf(g plan.Goal) plan.StrategyMode { return cmp.Or(g.Mode, plan.Automatic) }

func hasOtherModes(goals []plan.Goal) bool {
	return slices.ContainsFunc(goals, func(g plan.Goal) bool { return modeOf(g) != plan.Automatic })
}

// propose returns the proposals for the other modes. They begin in the predicted result of the
// finished first search for the automatic strategies, so no automatic move depends on a move that
// nobody has approved.
func (p *Planner) propose(first *search.Result, goals []plan.Goal) (out []plan.Proposal) {
	for _, mode := range []plan.StrategyMode{plan.Approve, plan.ShowOnly} {
		if isRequested(mode, goals) {
			next := proposalProblem(&p.opts, mode, first, goals).Run()
			out = append(out, plan.Proposal{Mode: mode, Plan: summary.Summarize(next)})
		}
	}
	return out
}

// automaticProblem returns the problem of the automatic strategies.
func automaticProblem(opts *search.Options, s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal,
	now time.Time) *search.Problem {
	automatic, others := goals, hasOtherModes(goals)
	if others {
		automatic = GoalsFor(plan.Automatic, goals)
	}
	c := search.NewProblem(inMode(opts, plan.Automatic), s, st, goal.Number(s, automatic), now)
	if others {
		c.Stated = goal.Number(s, goals)
	}
	return c
}

// inMode returns the options for the moves of the strategies in one mode.
func inMode(all *search.Options, mode plan.StrategyMode) *search.Options {
	opts := *all
	opts.Mode = mode
	return &opts
}

// isRequested reports whether a strategy in this mode is due and states a goal.
func isRequested(mode plan.StrategyMode, goals []plan.Goal) bool {
	return slices.ContainsFunc(goals, func(g plan.Goal) bool {
		return modeOf(g) == mode && (!g.Constraint || g.Wait.Code != "")
	})
}

// proposalProblem returns the problem of the strategies in one mode. It begins in the predicted result
// of the first search, and its goals are numbered from 1 there.
func proposalProblem(opts *search.Options, mode plan.StrategyMode, first *search.Result, goals []plan.Goal) *search.Problem {
	s := first.Snapshot
	c := search.NewProblem(inMode(opts, mode), s, first.Problem.PlannerState, goal.Number(s, GoalsFor(mode, goals)), first.Problem.Now)
	c.StartAfter(first.Moves)
	c.Stated = slices.DeleteFunc(slices.Clone(c.Start.Goals.Goals), func(g plan.Goal) bool { return modeOf(g) != mode })
	return c
}

// explainedMode is a finished search for the strategies in one mode.
type explainedMode struct {
	mode        plan.StrategyMode
	start, done *search.Result
	moves       map[cluster.PodID]plan.Move
}

func explainMode(mode plan.StrategyMode, p *search.Problem) explainedMode {
	out := explainedMode{mode, p.NoMoves(), p.Run(), map[cluster.PodID]plan.Move{}}
	out.start.End = p.Start.Clone() // an explanation tries what it explains
	for i, st := range out.done.Moves {
		m := summary.DescribeMove(out.done, st)
		m.Step = i + 1
		out.moves[st.Pod] = m
	}
	return out
}

// explainModes adds the goals of all modes and the proposals to an Explainer.
func (p *Planner) explainModes(e *Explainer, goals []plan.Goal) {
	first := e.automatic.done
	e.stated = goal.NewTracker(first.Snapshot, goal.Number(first.Snapshot, goals))
	e.after = e.stated.Clone()
	for _, m := range first.Moves {
		e.after.Move(m.Pod, m.From, m.Landing.To)
	}
	for _, mode := range []plan.StrategyMode{plan.Approve, plan.ShowOnly} {
		if isRequested(mode, goals) {
			e.proposals = append(e.proposals, explainMode(mode, proposalProblem(&p.opts, mode, first, goals)))
		}
	}
}

// rejection returns the reason why the plan, or otherwise a proposal that does not move the pod
// either, rejects the pod.
func (e *Explainer) rejection(pod cluster.PodID) (plan.Reason, bool) {
	r, refused := e.automatic.done.Account.Rejections.Of(pod)
	for _, of := range e.proposals {
		if _, moved := of.moves[pod]; !refused && !moved {
			r, refused = of.done.Account.Rejections.Of(pod)
		}
	}
	return r.Reason, refused
}

// proposedMoves returns the moves of a pod in the proposals.
func (e *Explainer) proposedMoves(pod cluster.PodID) (out []plan.ProposedMove) {
	for _, of := range e.proposals {
		if m, moved := of.moves[pod]; moved {
			out = append(out, plan.ProposedMove{Mode: of.mode, Move: m})
		}
	}
	return out
}
