package guard

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// knownControllers lists the controllers whose replacement of pods Evenkeel can predict.
var knownControllers = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "ReplicaSet"}:  true,
	{Group: "apps", Kind: "StatefulSet"}: true,
	{Group: "apps", Kind: "DaemonSet"}:   true,
	{Group: "batch", Kind: "Job"}:        true,
	{Kind: "ReplicationController"}:      true,
}

// otherControllers lists controllers of other projects that replace a pod at once and from the same template, unless
// their pods have several revisions. Evenkeel does not read them, so their existing pods count as their replicas.
var otherControllers = map[schema.GroupKind]bool{
	{Group: "apps.openshift.io", Kind: "DeploymentConfig"}: true, // through ReplicationControllers, one a revision
	{Group: "argoproj.io", Kind: "Rollout"}:                true, // through ReplicaSets, one a revision
	{Group: "apps.kruise.io", Kind: "CloneSet"}:            true, // itself, under a new name
	{Group: "apps.kruise.io", Kind: "StatefulSet"}:         true, // itself, under the same name once the pod is gone
}

// Evenkeel cannot predict when an unknown controller replaces a pod, nor from which template.
// Users can list such kinds in guards.controllers.
var unknownController = Rule{plan.UnknownController, TemplateScope, func(in Input) (string, bool) {
	c := in.Pod.Controller
	if c == nil {
		return "", false
	}
	kind := groupKind(c.APIVersion, c.Kind)
	manager := jobManagedBy(in.Pod.Owners)
	switch {
	case manager == "" && knownControllers[kind], in.isConfigured(c.APIVersion, c.Kind):
		return "", false
	case manager != "":
		return fmt.Sprintf(
			"Evenkeel does not know how %s (spec.managedBy) replaces the pods of Job %s (to allow evictions, add %s to guards.controllers)",
			manager, c.Name, configName(kind)), true
	case kind.Group == "": // guards.controllers cannot name it: nothing tells its workloads apart
		return fmt.Sprintf("Evenkeel does not know how %s replaces pods, and which pods of %s are alike", kind.Kind, c.Name), true
	}
	return fmt.Sprintf("Evenkeel does not know how %s replaces pods (to allow evictions, add it to guards.controllers)", configName(kind)), true
}}

// jobManagedBy returns spec.managedBy of the pod's Job. It returns "" if the Job controller
// manages the Job, or if the pod has no Job.
func jobManagedBy(owners []metav1.Object) string {
	if len(owners) == 0 {
		return ""
	}
	if j, ok := owners[0].(*batchv1.Job); ok && ptr.Deref(j.Spec.ManagedBy, "") != batchv1.JobControllerName {
		return ptr.Deref(j.Spec.ManagedBy, "")
	}
	return ""
}

// If the owner does not exist, the desired number of replicas is unknown, and the garbage collector
// may soon delete the pod.
var ownerNotFound = Rule{plan.OwnerNotFound, TemplateScope, func(in Input) (string, bool) {
	o := in.Pod.MissingOwner
	if o == nil || in.isConfigured(o.APIVersion, o.Kind) {
		return "", false
	}
	what, ns := "the pod's owner %s %s/%s is not in the snapshot", in.Pod.Object.Namespace
	if w := in.Snapshot.WorkloadOf(in.Pod); w != nil && w.Object != nil {
		what = "%s %s/%s, which controls the pod's " + w.Kind + " " + w.Name + ", is not in the snapshot"
	}
	return fmt.Sprintf(what, o.Kind, ns, o.Name) + in.missingOwnerRemedy(groupKind(o.APIVersion, o.Kind)), true
}}

// missingOwnerRemedy says how the pods of a missing owner can become movable.
func (in Input) missingOwnerRemedy(kind schema.GroupKind) string {
	if kind.Group == "" || slices.ContainsFunc(builtInGroups, func(g string) bool { return g == kind.Group }) {
		return ""
	}
	return fmt.Sprintf(" (to allow evictions, add %s to guards.controllers)", configName(kind))
}

// builtInGroups have the controllers of Kubernetes. If one of them is missing, its pods are orphans.
var builtInGroups = []string{"apps", "batch"}

// If the namespace or an owner is being deleted, or the Job is done, no controller creates a replacement.
var noReplacement = Rule{plan.NoReplacement, WorkloadScope, func(in Input) (string, bool) {
	ns := in.Snapshot.Namespace(in.Pod.Object.Namespace)
	if ns != nil && (ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating) {
		return fmt.Sprintf("namespace %s is being deleted", ns.Name), true
	}
	for _, o := range in.Pod.Owners {
		if o.GetDeletionTimestamp() != nil {
			return fmt.Sprintf("the pod's owner %s is being deleted", o.GetName()), true
		}
		if j, ok := o.(*batchv1.Job); ok {
			if why := jobStartsNoPods(in, j); why != "" {
				return fmt.Sprintf("Job %s %s", j.Name, why), true
			}
		}
	}
	return "", false
}}

// jobStartsNoPods returns the reason why a Job starts no more pods, or "" if it may start pods.
func jobStartsNoPods(in Input, j *batchv1.Job) string {
	if ptr.Deref(j.Spec.Suspend, false) {
		return "is suspended"
	}
	for i := range j.Status.Conditions {
		switch c := &j.Status.Conditions[i]; c.Type {
		case batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget:
			if c.Status == "True" {
				return fmt.Sprintf("has ended (%s)", c.Type)
			}
		}
	}
	if j.Spec.Completions == nil && hasSucceededPod(in, j) {
		return "has no spec.completions and one of its pods has succeeded, so it starts no more pods"
	}
	return ""
}

// hasSucceededPod reports whether a pod of the Job has succeeded, including pods that the Job
// controller has not counted yet.
func hasSucceededPod(in Input, j *batchv1.Job) bool {
	if u := j.Status.UncountedTerminatedPods; j.Status.Succeeded > 0 || u != nil && len(u.Succeeded) > 0 {
		return true
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	return w != nil && slices.ContainsFunc(w.TerminalPods, func(id cluster.PodID) bool {
		return in.Snapshot.Pods[id].Object.Status.Phase == corev1.PodSucceeded
	})
}
