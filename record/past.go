package record

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// PastMove is a move of a stored plan, and what became of it.
type PastMove struct {
	// Plan is the name of the plan, and PlannedAt the time of its pass.
	Plan      string                   `json:"plan"`
	PlannedAt metav1.Time              `json:"plannedAt"`
	Step      int32                    `json:"step"`
	Strategy  string                   `json:"strategy"`
	Pod       v1alpha1.PodReference    `json:"pod"`
	Workload  v1alpha1.ObjectReference `json:"workload"`
	From      string                   `json:"from"`
	// Predicted is the likeliest node, and Confidence how likely the replacement was to land on an acceptable one.
	Predicted          string                 `json:"predicted,omitempty"`
	ConfidencePerMille int32                  `json:"confidencePerMille,omitempty"`
	Why                v1alpha1.Reason        `json:"why"`
	Removal            string                 `json:"removal,omitempty"`
	Outcome            v1alpha1.StepStatus    `json:"outcome"`
	ReplacementOf      *v1alpha1.PodReference `json:"replacementOf,omitempty"`
}

// At returns when the pod was evicted, or else when its move was planned.
func (m *PastMove) At() time.Time {
	if m.Outcome.EvictedAt != nil {
		return m.Outcome.EvictedAt.Time
	}
	return m.PlannedAt.Time
}

// Evicted reports whether the pod was evicted, or may have been.
func (m *PastMove) Evicted() bool {
	return wasEvicted(m.Outcome.State)
}

// PlannedAt returns the time of the pass of a stored plan.
func PlannedAt(o *v1alpha1.RebalancePlan) metav1.Time {
	if o.Status.Started != nil {
		return *o.Status.Started
	}
	return o.CreationTimestamp
}

// PastMoves returns the moves of a plan that a pass tried, in the order of their steps. Those of a dry run, and those
// that wait or that a person discarded, are not among them.
func PastMoves(o *v1alpha1.RebalancePlan) (out []PastMove) {
	outcomes := map[int32]v1alpha1.StepStatus{}
	for _, x := range o.Status.Steps {
		switch x.State {
		case v1alpha1.StepEvicted, v1alpha1.StepUnknown, v1alpha1.StepInProgress, v1alpha1.StepBlocked, v1alpha1.StepGone, v1alpha1.StepDropped:
			outcomes[x.Step] = x
		}
	}
	for i := range o.Spec.Moves {
		m := &o.Spec.Moves[i]
		x, tried := outcomes[m.Step]
		if !tried {
			continue
		}
		owner := m.Owner
		owner.Namespace = m.Pod.Namespace
		out = append(out, PastMove{Plan: o.Name, PlannedAt: PlannedAt(o), Step: m.Step, Strategy: m.Strategy, Pod: m.Pod, Workload: owner, From: m.From,
			Predicted: m.To, ConfidencePerMille: m.ConfidencePerMille, Why: m.Reason, Removal: m.Removal, Outcome: x})
	}
	return out
}

// Chain returns the moves of one pod, of the pods before it, and of those that followed, the newest first: each is the
// replacement of the one before. is selects the pod. The moves are sorted by time.
func Chain(moves []PastMove, is func(v1alpha1.PodReference) bool) []PastMove {
	byReplacement, byPod := map[v1alpha1.PodReference]int{}, map[v1alpha1.PodReference]int{}
	for i := range moves {
		byPod[moves[i].Pod] = i
		if r := moves[i].Outcome.Replacement; r != nil {
			byReplacement[*r] = i
		}
	}
	wanted := map[int]bool{}
	for i := range moves {
		r := moves[i].Outcome.Replacement
		if !is(moves[i].Pod) && (r == nil || !is(*r)) {
			continue
		}
		for at, found := i, true; found && !wanted[at]; at, found = index(byReplacement, &moves[at].Pod) {
			wanted[at] = true
		}
		for at, found := index(byPod, r); found && !wanted[at]; at, found = index(byPod, moves[at].Outcome.Replacement) {
			wanted[at] = true
		}
	}
	var out []PastMove
	for i := range moves {
		if !wanted[i] {
			continue
		}
		m := moves[i]
		if before, found := index(byReplacement, &m.Pod); found {
			pod := moves[before].Pod
			m.ReplacementOf = &pod
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

func index(of map[v1alpha1.PodReference]int, pod *v1alpha1.PodReference) (int, bool) {
	if pod == nil {
		return 0, false
	}
	i, found := of[*pod]
	return i, found
}
