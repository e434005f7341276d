package view

import (
	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// Stored returns the view of a stored plan, with what happened if a process executed it.
func Stored(o *v1alpha1.RebalancePlan) *View {
	r := record.Shown(o)
	v := &View{Plan: r.Plan, Context: Context{Name: o.Name, Targets: TargetsOf(r.Plan.Goals), Mode: plan.Automatic, Evicts: r.Mode == plan.Live}}
	switch o.Spec.Mode {
	case v1alpha1.ModeApprove:
		v.Mode = plan.Approve
	case v1alpha1.ModeDryRun:
		v.Mode = plan.ShowOnly
	}
	if r.RunID != "" {
		v.Run = RunOf(&r)
	}
	if m := o.Spec.Omitted; m != nil {
		v.Omitted = Omitted{Moves: int(m.Moves), Goals: int(m.Goals), Nodes: int(m.Nodes), Workloads: int(m.Workloads)}
	}
	return v
}
