package guard

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// If the namespace or an owner is being deleted, or the Job is done, no controller creates a
// replacement.
var noReplacement = Rule{plan.NoReplacement, WorkloadScope, func(in Input) (string, bool) {
	ns := in.Snapshot.Namespace(in.Pod.Object.Namespace)
	if ns != nil && ns.DeletionTimestamp != nil {
		return fmt.Sprintf("namespace %s is being deleted", ns.Name), true
	}
	for _, o := range in.Pod.Owners {
		if o.GetDeletionTimestamp() != nil {
			return fmt.Sprintf("its owner %s is being deleted", o.GetName()), true
		}
		if j, ok := o.(*batchv1.Job); ok {
			if why := jobStartsNoPods(in, j); why != "" {
				return fmt.Sprintf("Job %s %s", j.Name, why), true
			}
		}
	}
	return "", false
}}

// jobStartsNoPods says why a Job starts no more pods, or returns "".
func jobStartsNoPods(in Input, j *batchv1.Job) string {
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
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

// hasSucceededPod reports whether a pod of the Job has succeeded. It also looks for pods that
// the Job controller has not counted yet.
func hasSucceededPod(in Input, j *batchv1.Job) bool {
	if u := j.Status.UncountedTerminatedPods; j.Status.Succeeded > 0 || u != nil && len(u.Succeeded) > 0 {
		return true
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	return w != nil && slices.ContainsFunc(w.TerminalPods, func(id cluster.PodID) bool {
		return in.Snapshot.Pods[id].Object.Status.Phase == corev1.PodSucceeded
	})
}
