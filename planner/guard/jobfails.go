package guard

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// defaultBackoffLimit is the API's.
const defaultBackoffLimit = 6

// indexFailures is where the Job controller counts the failures of one index.
const indexFailures = "batch.kubernetes.io/job-index-failure-count"

// An evicted pod counts as failed, unless the Job's podFailurePolicy says
// otherwise of pods with the condition DisruptionTarget. At the limit the Job
// fails, and no replacement comes.
var jobWouldFail = Rule{plan.JobWouldFail, func(in Input) (string, bool) {
	if len(in.Pod.Owners) == 0 {
		return "", false
	}
	j, ok := in.Pod.Owners[0].(*batchv1.Job)
	if !ok {
		return "", false
	}
	switch onDisruption(j) {
	case batchv1.PodFailurePolicyActionIgnore:
		return "", false
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex:
		return fmt.Sprintf("Job %s fails when a pod is disrupted (podFailurePolicy)", j.Name), true
	}
	failed, limit := failures(in.Pod.Object, j)
	return fmt.Sprintf("the eviction would be failure %d of Job %s, above its backoffLimit %d", failed+1, j.Name, limit), failed+1 > limit
}}

// onDisruption is what the podFailurePolicy does about an evicted pod: the
// action of the first rule that matches. A rule by exit codes may match it as
// well, since the container's exit is not known beforehand: such a policy is
// read as failing, unless the disruption is looked at first.
func onDisruption(j *batchv1.Job) batchv1.PodFailurePolicyAction {
	if j.Spec.PodFailurePolicy == nil {
		return batchv1.PodFailurePolicyActionCount
	}
	for _, r := range j.Spec.PodFailurePolicy.Rules {
		if r.OnExitCodes != nil && r.Action != batchv1.PodFailurePolicyActionIgnore && r.Action != batchv1.PodFailurePolicyActionCount {
			return r.Action
		}
		if slices.ContainsFunc(r.OnPodConditions, func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return c.Type == corev1.DisruptionTarget && (c.Status == "" || c.Status == corev1.ConditionTrue)
		}) {
			return r.Action
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

// failures so far and how many are allowed, of the pod's index where the Job
// counts by index.
func failures(p *corev1.Pod, j *batchv1.Job) (failed, limit int) {
	if l := j.Spec.BackoffLimitPerIndex; l != nil {
		n, err := strconv.Atoi(p.Annotations[indexFailures])
		if err != nil {
			n = 0 // set once an index has failed
		}
		return n, int(*l)
	}
	limit = defaultBackoffLimit
	if l := j.Spec.BackoffLimit; l != nil {
		limit = int(*l)
	}
	return int(j.Status.Failed), limit
}
