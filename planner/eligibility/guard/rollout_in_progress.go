package guard

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// While a rollout runs its controller moves pods itself, its budget is in use,
// and the replacement may come from another template. What rolls out may stand
// below a controller that is not read, or be one.
var rolloutInProgress = Rule{plan.RolloutInProgress, workloadScope, func(in Input) (string, bool) {
	for _, o := range in.Pod.Owners {
		why, kind := "", ""
		switch o := o.(type) {
		case *appsv1.Deployment:
			why, kind = deploymentRollout(o), "Deployment"
		case *appsv1.StatefulSet:
			why, kind = statefulSetRollout(o), "StatefulSet"
		}
		if why != "" {
			return fmt.Sprintf("%s %s is rolling out: %s", kind, o.GetName(), why), true
		}
	}
	w, n := severalSets(in)
	if n < 2 {
		return "", false
	}
	return fmt.Sprintf("%s %s is rolling out: its pods belong to %d ReplicaSets", w.Kind, w.Name, n), true
}}

// surging reports whether pods of two templates stand beside each other. A change
// that its controller has not seen does not count: it may be of the number alone.
func surging(in Input) bool {
	for _, o := range in.Pod.Owners {
		if d, ok := o.(*appsv1.Deployment); ok && olderPods(d) > 0 {
			return true
		}
	}
	_, n := severalSets(in)
	return n > 1
}

// severalSets counts the ReplicaSets of the workload of a pod that one controls; 0
// for other pods. A status may be behind: the pods are not.
func severalSets(in Input) (*cluster.Workload, int) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || in.Pod.Controller.Kind != "ReplicaSet" {
		return nil, 0
	}
	if in.Cache == nil {
		return w, replicaSetsOf(in.Snapshot, w, in.Pod.Owners)
	}
	key := setsKey{workload: w.ID}
	if len(in.Pod.Owners) > 0 {
		key.lowest = in.Pod.Owners[0]
	}
	n, known := in.Cache.sets[key]
	if !known {
		n = replicaSetsOf(in.Snapshot, w, in.Pod.Owners)
		in.Cache.sets[key] = n
	}
	return w, n
}

// setsKey is what replicaSetsOf depends on: of the lowest owner only what is above it.
type setsKey struct {
	workload cluster.WorkloadID
	lowest   metav1.Object
}

// replicaSetsOf counts the ReplicaSets that have pods of the workload, as far as
// they are of the same owner as the pod's: an unknown kind may have several
// Deployments.
func replicaSetsOf(s *cluster.Snapshot, w *cluster.Workload, owners []metav1.Object) int {
	sets, of := map[string]bool{}, above(owners)
	last := "" // nearly always the only one
	for _, id := range w.Pods {
		p := &s.Pods[id]
		if p.Terminating || p.Controller == nil || p.Controller.Kind != "ReplicaSet" || p.Controller.Name == last && len(sets) > 0 {
			continue
		}
		if above(p.Owners) == of {
			last = p.Controller.Name
			sets[last] = true
		}
	}
	return len(sets)
}

// controller names what controls an owner; the zero value is nothing.
type controller struct{ kind, name string }

// above is what controls a pod's lowest owner.
func above(owners []metav1.Object) controller {
	if len(owners) == 0 {
		return controller{}
	}
	ref := metav1.GetControllerOfNoCopy(owners[0])
	if ref == nil {
		return controller{}
	}
	return controller{ref.Kind, ref.Name}
}

func deploymentRollout(d *appsv1.Deployment) string {
	if d.Status.ObservedGeneration < d.Generation {
		return "its change was not seen by its controller yet"
	}
	if old := olderPods(d); old > 0 {
		return fmt.Sprintf("%d of its %d pods are of an older revision", old, d.Status.Replicas)
	}
	return ""
}

// olderPods are those that a newer template is about to replace.
func olderPods(d *appsv1.Deployment) int32 { return d.Status.Replicas - d.Status.UpdatedReplicas }

// statefulSetRollout leaves OnDelete alone: it waits for people.
func statefulSetRollout(o *appsv1.StatefulSet) string {
	st := &o.Status
	if st.ObservedGeneration < o.Generation {
		return "its change was not seen by its controller yet"
	}
	if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || st.UpdateRevision == "" || st.CurrentRevision == st.UpdateRevision {
		return ""
	}
	want := cluster.ReplicasOrDefault(o.Spec.Replicas) - partition(o)
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
