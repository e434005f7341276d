package record

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Name returns the name of the object for a plan of a pass. Names sort by time.
func Name(started time.Time, runID string, mode v1alpha1.Mode) string {
	name := started.UTC().Format("20060102-150405") + "-" + runID
	if mode == v1alpha1.ModeApprove {
		name += "-proposal"
	}
	return name
}

// ReplanSuffix ends the name of the second plan of a pass, and shownSuffix that of a plan that is only shown.
const (
	ReplanSuffix = "-replan"
	shownSuffix  = "-shown"
)

// PlanObjects returns a plan that no pass made as objects: its moves, which a person may have executed, and the
// proposals. What has no moves is left out if another part has some. Equal plans have equal objects.
func PlanObjects(p *plan.Plan) []v1alpha1.RebalancePlan {
	all := append([]v1alpha1.RebalancePlan{object(p, Name(p.TakenAt, p.ID, v1alpha1.ModeAutomatic), v1alpha1.ModeApprove, stored)},
		proposals(p, p.TakenAt, p.ID, stored)...)
	out := slices.DeleteFunc(slices.Clone(all), func(o v1alpha1.RebalancePlan) bool { return o.Spec.MoveCount == 0 })
	if len(out) == 0 {
		return all[:1]
	}
	return out
}

// PassObjects returns a pass as objects: its plan and its second plan, with what happened, and the proposals. A pass
// that ended before it planned has a plan without moves. With all, the objects have every move, goal, node and
// workload, and may be too large for the API server.
func PassObjects(r *plan.RunReport, all bool) (out []v1alpha1.RebalancePlan) {
	mode, holder, first, most := ModeOf(r), "", r.Plan, stored
	if all {
		most = whole
	}
	if first.TakenAt.IsZero() {
		first.TakenAt = r.Started
	}
	first.Inputs = slices.Concat(first.Inputs, r.Inputs)
	name := Name(r.Started, r.RunID, mode)
	if r.Approval != nil && r.Approval.WaitingPlan != "" {
		name = r.Approval.WaitingPlan
	}
	if out = append(out, object(&first, name, mode, most)); r.Replan != nil {
		out = append(out, object(r.Replan, name+ReplanSuffix, mode, most))
	}
	if r.Recovery != nil {
		holder = r.Recovery.Holder
	}
	for i := range out {
		out[i].Status = Status(out[i].Status, &out[i].Spec, r, holder)
		for k := range out[i].Status.Steps {
			if x := &out[i].Status.Steps[k]; r.Approval != nil {
				x.DecidedBy, x.DecidedAt = cut(r.Approval.By, maxName), timeOrNil(r.Approval.At)
			}
		}
	}
	return append(out, proposals(&r.Plan, r.Started, r.RunID, most)...)
}

// ModeOf returns the mode of the plan of a pass.
func ModeOf(r *plan.RunReport) v1alpha1.Mode {
	switch {
	case r.Mode == plan.DryRun:
		return v1alpha1.ModeDryRun
	case r.Approval != nil:
		return v1alpha1.ModeApprove
	}
	return v1alpha1.ModeAutomatic
}

func proposals(p *plan.Plan, at time.Time, id string, most bounds) (out []v1alpha1.RebalancePlan) {
	for i := range p.Proposals {
		mode := modeOf(p.Proposals[i].Mode)
		name := Name(at, id, mode)
		if mode == v1alpha1.ModeDryRun {
			name += shownSuffix
		}
		out = append(out, object(&p.Proposals[i].Plan, name, mode, most))
	}
	return out
}

func object(p *plan.Plan, name string, mode v1alpha1.Mode, most bounds) v1alpha1.RebalancePlan {
	o := v1alpha1.RebalancePlan{Spec: spec(p, mode, most)}
	o.APIVersion, o.Kind, o.Name = v1alpha1.GroupVersion.String(), "RebalancePlan", name
	if p.Filtered != nil {
		o.Kind = FilteredKind
	}
	return o
}
