// Package planner turns goals into a plan: the fewest evictions whose predicted replacements bring the goals closer
// to being met.
//
// Package planner decides which pods move, in which order and in which waves. The plan includes a lower bound on
// evictions and a reason for every rejection. Package planner never evicts pods, calls an API server or reads a
// clock. The same snapshot, state, goals, options and time give the same plan, byte by byte.
package planner

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
	corev1 "k8s.io/api/core/v1"
)

// Planner makes plans with fixed options.
type Planner struct{ opts search.Options }

// New returns a planner with these options.
func New(opts search.Options) *Planner { return &Planner{opts} }

// Plan makes a plan for the goals at the time now. The plan itself moves pods only for automatic strategies. Its
// proposals contain the moves for the others. Each round of an attempt predicts at most one landing per pod that could
// improve a goal, and two landings per move.
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	first := automaticProblem(&p.opts, s, st, goals, now).Run()
	out := summary.Summarize(first)
	if hasOtherModes(goals) {
		out.Proposals, out.StoppedAt = p.propose(first, goals), s.Work.StoppedAt()
		out.ID = plan.ContentID(out)
	}
	return out
}

// PredictHints returns the cluster with exactly the pressure hints that the hint rules require now.
// Snapshot.ActualNodes keeps the unchanged nodes. If the option PredictHints is off or the rules change no node,
// PredictHints returns s itself. The option is for dry runs: a run that evicts waits until the hints are written, so
// both runs plan on the same nodes. PredictHints returns an error if the changed objects form no valid snapshot.
func (p *Planner) PredictHints(s *cluster.Snapshot) (*cluster.Snapshot, error) {
	if !p.opts.PredictHints {
		return s, nil
	}
	changed := p.opts.HintRules.Predict(s.Objects.Nodes, s.Objects.Usage, s.TakenAt)
	if len(changed) == 0 {
		return s, nil
	}
	objects := *s.Objects
	objects.Nodes = slices.Clone(objects.Nodes)
	written := map[string]*corev1.Node{}
	for i, n := range objects.Nodes {
		if out, is := changed[n.Name]; is {
			objects.Nodes[i], written[n.Name] = out, n
		}
	}
	out, err := cluster.New(&objects)
	if err != nil {
		return nil, err
	}
	out.ActualNodes = written
	return out, nil
}

// Replan makes a second plan in a pass in which not every move succeeded as planned. The parameter done holds the
// moves that were or may have been executed since began. These moves count against the limits of the pass. Replan
// never evicts pods that started after began, so the pass never evicts its own replacements. Replan plans for automatic
// strategies only, and empties no node: the next pass does.
func (p *Planner) Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan {
	later := *p
	if age := now.Sub(began) + time.Second; age > later.opts.Guards.MinPodAge { // pod timestamps have a resolution of one second
		later.opts.Guards.MinPodAge = age
	}
	c := automaticProblem(&later.opts, s, st, withoutEmptying(goals), now)
	c.Account.Limits.AddEarlierMoves(done)
	return summary.Summarize(c.Run())
}

// withoutEmptying makes constraints of the goals of the kind NodeEmpty.
func withoutEmptying(goals []plan.Goal) []plan.Goal {
	out := slices.Clone(goals)
	for i := range out {
		out[i].Constraint = out[i].Constraint || out[i].Kind == plan.NodeEmpty
	}
	return out
}
