package record

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// FilteredKind is the kind of the document for a part of a plan. It is no kind of the API, so no cluster stores the
// document, and nothing executes it.
const FilteredKind = "FilteredRebalancePlan"

// Part returns the document for the part of a stored plan that the filter selects.
func Part(o *v1alpha1.RebalancePlan, f *plan.Filter) *v1alpha1.RebalancePlan {
	if f.IsEmpty() {
		return o
	}
	p := f.Select(Shown(o).Plan)
	o = v1alpha1.DeepCopy(o)
	before, s := o.Spec, &o.Spec
	steps, waves, goals := map[int32]bool{}, map[int32]bool{}, map[string]bool{}
	for i := range p.Moves {
		steps[int32(p.Moves[i].Step)], waves[int32(p.Moves[i].Wave)] = true, true
	}
	for i := range p.Goals {
		goals[p.Goals[i].ID] = true
	}
	nodes, workloads := map[string]bool{}, map[v1alpha1.ObjectReference]bool{}
	for i := range p.Before.Nodes {
		nodes[p.Before.Nodes[i].Name] = true
	}
	for i := range p.Before.Workloads {
		w := &p.Before.Workloads[i]
		workloads[v1alpha1.ObjectReference{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}] = true
	}
	s.Moves = slices.DeleteFunc(s.Moves, func(m v1alpha1.Move) bool { return !steps[m.Step] })
	s.Hints = slices.DeleteFunc(s.Hints, func(h v1alpha1.WaveHints) bool { return !waves[h.Wave] })
	s.Goals = slices.DeleteFunc(s.Goals, func(g v1alpha1.Goal) bool { return !goals[g.ID] })
	o.Status.Steps = slices.DeleteFunc(o.Status.Steps, func(x v1alpha1.StepStatus) bool { return !steps[x.Step] })
	for _, st := range []*v1alpha1.ClusterState{&s.Before, &s.After} {
		st.Nodes = slices.DeleteFunc(st.Nodes, func(n v1alpha1.NodeState) bool { return !nodes[n.Name] })
		st.Workloads = slices.DeleteFunc(st.Workloads, func(w v1alpha1.WorkloadState) bool {
			return !workloads[v1alpha1.ObjectReference{Kind: w.Workload.Kind, Namespace: w.Workload.Namespace, Name: w.Workload.Name}]
		})
	}
	s.NotMoved = notMoved(p.Rejections)
	x := v1alpha1.Omitted{}
	if s.Omitted != nil {
		x = *s.Omitted
	}
	x.Moves, x.Goals = x.Moves+int32(len(before.Moves)-len(s.Moves)), x.Goals+int32(len(before.Goals)-len(s.Goals))
	x.Nodes, x.Workloads = x.Nodes+int32(len(before.Before.Nodes)-len(s.Before.Nodes)), x.Workloads+int32(len(before.Before.Workloads)-len(s.Before.Workloads))
	s.Omitted = &x
	o.Kind, s.Expires = FilteredKind, s.TakenAt
	s.Notices = slices.Insert(s.Notices, 0, v1alpha1.Notice{Reason: v1alpha1.Reason{Code: filtered, Message: cut(p.FilterText(), maxMessage)}})
	return o
}
