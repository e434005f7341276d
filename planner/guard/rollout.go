package guard

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// While a rollout runs its controller moves pods itself, its budget is in use,
// and the replacement may come from another template.
var rolloutInProgress = Rule{plan.RolloutInProgress, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	why := ""
	switch o := w.Object.(type) {
	case *appsv1.Deployment:
		why = deploymentRollout(in.Snapshot, w, o)
	case *appsv1.StatefulSet:
		why = statefulSetRollout(o)
	}
	return fmt.Sprintf("%s %s is rolling out: %s", w.Kind, w.Name, why), why != ""
}}

func deploymentRollout(s *cluster.Snapshot, w *cluster.Workload, d *appsv1.Deployment) string {
	if d.Status.ObservedGeneration < d.Generation {
		return "its change was not seen by its controller yet"
	}
	if old := d.Status.Replicas - d.Status.UpdatedReplicas; old > 0 {
		return fmt.Sprintf("%d of its %d pods are of an older revision", old, d.Status.Replicas)
	}
	sets := map[string]bool{}
	for _, id := range w.Pods {
		if p := &s.Pods[id]; !p.Terminating && p.Controller != nil {
			sets[p.Controller.Name] = true
		}
	}
	if len(sets) > 1 {
		return fmt.Sprintf("its pods belong to %d ReplicaSets", len(sets))
	}
	return ""
}

// statefulSetRollout leaves OnDelete alone: it waits for people.
func statefulSetRollout(o *appsv1.StatefulSet) string {
	st := &o.Status
	if st.ObservedGeneration < o.Generation {
		return "its change was not seen by its controller yet"
	}
	if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || st.UpdateRevision == "" || st.CurrentRevision == st.UpdateRevision {
		return ""
	}
	want := cluster.Count(o.Spec.Replicas) - partition(o)
	if st.UpdatedReplicas < want {
		return fmt.Sprintf("%d of %d pods are of the new revision", st.UpdatedReplicas, want)
	}
	return ""
}

// partition is the ordinal from which pods are of the new revision.
func partition(o *appsv1.StatefulSet) int32 {
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		return *r.Partition
	}
	return 0
}
