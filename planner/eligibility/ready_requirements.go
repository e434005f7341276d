package eligibility

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// ReadyRequirements returns the requirements that must hold right before the eviction, when the
// snapshot may be some seconds old. moves is the number of pods of the workload that the wave
// evicts. The eviction is for the strategy. For a pod with a PodDisruptionBudget there are none,
// because the API server checks the budget.
func (v *Checker) ReadyRequirements(p *cluster.Pod, strategy, moves int) []plan.ReadyRequirement {
	w := v.snapshot.WorkloadOf(p)
	if w == nil || len(p.Budgets) > 0 {
		return nil
	}
	allowed := v.options.MaxUnavailableWithoutPDB
	if v.protects(strategy, guard.ProtectDegraded) {
		allowed = min(allowed, moves) // only the pods that this wave evicts may be unavailable
	}
	var out []plan.ReadyRequirement
	if least := guard.DesiredReplicas(w) - allowed; least > 0 {
		out = append(out, plan.ReadyRequirement{Of: w.Kind + " " + w.Name, Selector: v.podSelector(w), OwnerUIDs: v.controllerUIDs(w),
			MinReady: least, MinReadyTime: guard.MinReadyTime(p), Code: plan.WorkloadUnavailable})
	}
	if !p.Ready || !v.protects(strategy, guard.ProtectLastReady) {
		return out
	}
	for _, id := range p.Services {
		s := &v.snapshot.Services[id]
		out = append(out, plan.ReadyRequirement{Of: "Service " + s.Object.Name, Selector: s.Selector.String(), MinReady: 1,
			Code: plan.LastReadyPod})
	}
	return out
}

// controllerUIDs returns the UIDs of the controllers of the workload's pods.
func (v *Checker) controllerUIDs(w *cluster.Workload) []string {
	var out []string
	for _, id := range w.Pods {
		if c := v.snapshot.Pods[id].Controller; c != nil && !slices.Contains(out, string(c.UID)) {
			out = append(out, string(c.UID))
		}
	}
	return out
}

// podSelector returns the label selector of the workload. The snapshot does not contain the objects
// of other kinds, such as a Rollout; for these it returns the labels that all pods of the workload
// share. A pod that was created with other labels since the snapshot then does not count as Ready.
// podSelector returns "" if the pods share no label.
func (v *Checker) podSelector(w *cluster.Workload) string {
	var selector *metav1.LabelSelector
	switch o := w.Object.(type) {
	case *appsv1.Deployment:
		selector = o.Spec.Selector
	case *appsv1.ReplicaSet:
		selector = o.Spec.Selector
	case *appsv1.StatefulSet:
		selector = o.Spec.Selector
	case *batchv1.Job:
		selector = o.Spec.Selector
	case *corev1.ReplicationController:
		return labels.SelectorFromSet(o.Spec.Selector).String()
	}
	if selector == nil {
		return labels.SelectorFromSet(v.commonLabels(w)).String()
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return ""
	}
	return s.String()
}

// commonLabels returns the labels that all pods of the workload share.
func (v *Checker) commonLabels(w *cluster.Workload) map[string]string {
	var out map[string]string
	for i, id := range w.Pods {
		own := v.snapshot.Pods[id].Object.Labels
		if i == 0 {
			out = maps.Clone(own)
		}
		maps.DeleteFunc(out, func(key, value string) bool { x, ok := own[key]; return !ok || x != value })
	}
	return out
}
