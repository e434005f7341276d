package guard

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// What is being deleted, or has all it needs, replaces nothing.
var noReplacement = Rule{plan.NoReplacement, workloadScope, func(in Input) (string, bool) {
	ns := in.Snapshot.Namespace(in.Pod.Object.Namespace)
	if ns != nil && ns.DeletionTimestamp != nil {
		return fmt.Sprintf("namespace %s is being deleted", ns.Name), true
	}
	for _, o := range in.Pod.Owners {
		if o.GetDeletionTimestamp() != nil {
			return fmt.Sprintf("its owner %s is being deleted", o.GetName()), true
		}
		if j, ok := o.(*batchv1.Job); ok {
			if why := jobIsDone(in, j); why != "" {
				return fmt.Sprintf("Job %s %s", j.Name, why), true
			}
		}
	}
	return "", false
}}

// jobIsDone: a Job starts no more pods than it needs to complete.
// A queue of work, which has no completions, starts none once a pod succeeded.
func jobIsDone(in Input, j *batchv1.Job) string {
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
	if j.Spec.Completions == nil && succeeded(in, j) {
		return "has no completions and a pod that succeeded: it starts no more"
	}
	return ""
}

// succeeded says whether a pod of the Job has succeeded, counted yet or not.
func succeeded(in Input, j *batchv1.Job) bool {
	if u := j.Status.UncountedTerminatedPods; j.Status.Succeeded > 0 || u != nil && len(u.Succeeded) > 0 {
		return true
	}
	w := in.Snapshot.WorkloadOf(in.Pod)
	return w != nil && slices.ContainsFunc(w.TerminalPods, func(id cluster.PodID) bool {
		return in.Snapshot.Pods[id].Object.Status.Phase == corev1.PodSucceeded
	})
}
