package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// During a rollout the controller itself replaces pods and uses up the disruption budget, and the replacement may have
// another template. The rule checks every owner of the pod, because an unknown kind may control the Deployment or
// StatefulSet.
//
// A controller that is not read may keep two revisions for good, as OpenKruise's CloneSet and StatefulSet do with a
// partition, and their pods are replaced by pods of the same revision. Nothing tells this from a rollout, except that
// guards.controllers lists the kind.
var rolloutInProgress = Rule{plan.RolloutInProgress, WorkloadScope, func(in Input) (string, bool) {
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
	w, n := revisionCount(in)
	if n < 2 {
		return "", false
	}
	if c := in.Pod.Controller; len(in.Pod.Owners) == 0 {
		kind := configName(groupKind(c.APIVersion, c.Kind))
		return fmt.Sprintf("%s %s is rolling out: its pods have %d revisions (if a partition keeps them for good, add %s to guards.controllers)",
			w.Kind, w.Name, n, kind), !slices.Contains(in.Options.Controllers, kind)
	}
	return fmt.Sprintf("%s %s is rolling out: its pods belong to %d %ss", w.Kind, w.Name, n, in.Pod.Controller.Kind), true
}}

// hasTwoTemplates reports whether the workload has pods of two templates. It ignores a change that the controller has
// not observed, because the change may affect only the number of replicas.
func hasTwoTemplates(in Input) bool {
	for _, o := range in.Pod.Owners {
		if d, ok := o.(*appsv1.Deployment); ok && outdatedPods(d) > 0 {
			return true
		}
	}
	_, n := revisionCount(in)
	return n > 1
}

// revisionCount returns the pod's workload and the number of its revisions with pods: of its ReplicaSets or
// ReplicationControllers, or of the hashes on the pods of a controller that is not read. It counts pods, because the
// status may be stale. For other pods it returns 0.
func revisionCount(in Input) (*cluster.Workload, int) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || revisionOf(in.Pod) == "" {
		return nil, 0
	}
	key := revisionsKey{workload: w.ID}
	if len(in.Pod.Owners) > 0 {
		key.owner = in.Pod.Owners[0]
	}
	n, known := in.Cache.revisions[key]
	if !known {
		n = countRevisions(in.Snapshot, w, in.Pod.Owners)
		in.Cache.revisions[key] = n
	}
	return w, n
}

// revisionOf returns the name of the ReplicaSet or ReplicationController of a pod, or the revision that a controller
// which is not read wrote on the pod, or "".
func revisionOf(p *cluster.Pod) string {
	switch {
	case p.Controller.Kind == "ReplicaSet" || p.Controller.Kind == "ReplicationController":
		return p.Controller.Name
	case len(p.Owners) == 0:
		return p.Object.Labels[appsv1.ControllerRevisionHashLabelKey]
	}
	return ""
}

// countRevisions counts the revisions with pods of the workload, of those pods whose direct owners have the same
// controller.
func countRevisions(s *cluster.Snapshot, w *cluster.Workload, owners []metav1.Object) int {
	names, want := map[string]bool{}, controllerOfOwner(owners)
	var last *cluster.Pod // counted; nearly all pods have its template
	for _, id := range w.Pods {
		p := &s.Pods[id]
		if p.Terminating || p.Controller == nil || last != nil && p.HasTemplateOf(last) {
			continue
		}
		if name := revisionOf(p); name != "" && controllerOfOwner(p.Owners) == want {
			last, names[name] = p, true
		}
	}
	return len(names)
}

// controllerOfOwner returns the kind and name of the controller of a pod's direct owner, or two empty strings.
func controllerOfOwner(owners []metav1.Object) (kindAndName [2]string) {
	if len(owners) > 0 {
		if ref := metav1.GetControllerOfNoCopy(owners[0]); ref != nil {
			return [2]string{ref.Kind, ref.Name}
		}
	}
	return [2]string{}
}

// deploymentRollout describes the rollout of a Deployment. It returns "" without a rollout.
func deploymentRollout(d *appsv1.Deployment) string {
	if d.Status.ObservedGeneration < d.Generation {
		return "its controller has not observed the latest change"
	}
	if outdated := outdatedPods(d); outdated > 0 {
		return fmt.Sprintf("%d of its %d pods have an older revision", outdated, d.Status.Replicas)
	}
	return ""
}

// outdatedPods returns the number of pods that do not have the latest template.
func outdatedPods(d *appsv1.Deployment) int32 { return d.Status.Replicas - d.Status.UpdatedReplicas }

// statefulSetRollout describes the rollout of a StatefulSet. It returns "" without a rollout. With OnDelete there is no
// rollout, because the controller waits until users delete the pods.
func statefulSetRollout(o *appsv1.StatefulSet) string {
	st := &o.Status
	if st.ObservedGeneration < o.Generation {
		return "its controller has not observed the latest change"
	}
	if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || st.UpdateRevision == "" ||
		st.CurrentRevision == st.UpdateRevision {
		return ""
	}
	want := cluster.ReplicasOrDefault(o.Spec.Replicas) - updatePartition(o)
	if st.UpdatedReplicas < want {
		return fmt.Sprintf("%d of %d pods have the new revision", st.UpdatedReplicas, want)
	}
	return ""
}

// updatePartition returns the lowest ordinal whose pod gets the new revision.
func updatePartition(o *appsv1.StatefulSet) int32 {
	if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return ptr.Deref(r.Partition, 0)
	}
	return 0
}

// With OnDelete or a partition, the replacement of a StatefulSet pod may have another revision. Users decide when to
// update such a pod.
var revisionWouldChange = Rule{plan.RevisionWouldChange, PodScope, func(in Input) (string, bool) {
	if len(in.Pod.Owners) == 0 {
		return "", false
	}
	o, ok := in.Pod.Owners[0].(*appsv1.StatefulSet)
	if !ok {
		return "", false
	}
	current := in.Pod.Object.Labels[appsv1.ControllerRevisionHashLabelKey]
	next := replacementRevision(o, in.Pod.Object.Name)
	switch {
	case next == "", current == next:
		return "", false
	case current == "":
		return "the pod has no label " + appsv1.ControllerRevisionHashLabelKey + ", and its replacement would have revision " + next, true
	}
	return fmt.Sprintf("the pod has revision %s, and its replacement would have revision %s", current, next), true
}}

// replacementRevision returns the revision of the pod's replacement, or "" if the status of the StatefulSet names none.
func replacementRevision(o *appsv1.StatefulSet, pod string) string {
	st := &o.Status
	if st.UpdateRevision == "" || o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return st.UpdateRevision
	}
	ordinal, err := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	if err != nil {
		return st.UpdateRevision
	}
	start := 0
	if o.Spec.Ordinals != nil {
		start = int(o.Spec.Ordinals.Start)
	}
	if ordinal < start+int(updatePartition(o)) {
		return st.CurrentRevision
	}
	return st.UpdateRevision
}
