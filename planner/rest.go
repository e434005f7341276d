package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Replan plans for what a pass has left, since not all came as planned: done are
// the moves that were carried out, or may have been, since began. They count against the
// limits of the pass as if both plans were one. What came up since then stays: no
// replacement is moved on by the pass that made it.
func (p *Planner) Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan {
	later := *p
	if age := now.Sub(began) + time.Second; age > later.opts.Guards.MinPodAge { // times of pods are whole seconds
		later.opts.Guards.MinPodAge = age
	}
	c := later.newSearch(s, st, later.withEffect(s, st, goals, now), now)
	c.Limits.AddEarlierMoves(done)
	before, start := c.DescribeState(), c.Goals.Clone()
	c.Run()
	return later.summarize(c, before, start)
}

// AddEarlierMoves counts evictions of pods that are no longer there.
func (l *Counter) AddEarlierMoves(moves []plan.Move) {
	workloads := map[plan.ObjectRef]cluster.WorkloadID{}
	for i := range l.snapshot.Workloads {
		w := &l.snapshot.Workloads[i]
		workloads[plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}] = cluster.WorkloadID(i)
	}
	for _, m := range moves {
		b := &l.earlierPlan
		b.all++
		b.namespace[m.Pod.Namespace]++
		if n := l.snapshot.NodeByName(m.From); n != nil {
			b.node[n.ID]++
			b.zone[l.Zones[n.ID]]++
		}
		if w, known := workloads[history.WorkloadOf(m)]; known {
			b.workload[w]++
		} else {
			b.withoutWorkload++
		}
	}
}
