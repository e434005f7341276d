package guard

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
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
	return JobFails(in.Snapshot, in.Pod, 0)
}}

// JobFails says why the pod's Job would fail by its eviction, when so many other
// pods of the Job are evicted before it.
func JobFails(s *cluster.Snapshot, p *cluster.Pod, before int) (message string, fails bool) {
	if len(p.Owners) == 0 {
		return "", false
	}
	j, ok := p.Owners[0].(*batchv1.Job)
	if !ok {
		return "", false
	}
	switch onDisruption(j) {
	case batchv1.PodFailurePolicyActionIgnore:
		return "", false
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex:
		return fmt.Sprintf("Job %s fails when a pod is disrupted (podFailurePolicy)", j.Name), true
	}
	if limit := j.Spec.BackoffLimitPerIndex; limit != nil {
		if n := failuresOfIndex(p.Object) + 1; n > int(*limit) {
			return fmt.Sprintf("the eviction would be failure %d of its index in Job %s, above its backoffLimitPerIndex %d", n, j.Name, *limit), true
		}
	}
	n, limit := failures(s, p, j)+before+1, backoffLimit(j)
	return fmt.Sprintf("the eviction would be failure %d of Job %s, above its backoffLimit %d", n, j.Name, limit), n > limit
}

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

// failures are those in the status, those that its controller is about to add
// to it, and those to come: pods on their way out that it has not let go of.
func failures(s *cluster.Snapshot, p *cluster.Pod, j *batchv1.Job) int {
	n := int(j.Status.Failed)
	var adding []types.UID
	if u := j.Status.UncountedTerminatedPods; u != nil {
		adding = u.Failed
	}
	n += len(adding)
	w := s.WorkloadOf(p)
	if w == nil {
		return n
	}
	for _, id := range w.Pods {
		o := s.Pods[id].Object
		if s.Pods[id].Terminating && slices.Contains(o.Finalizers, batchv1.JobTrackingFinalizer) && !slices.Contains(adding, o.UID) {
			n++
		}
	}
	return n
}

// failuresOfIndex is what the Job controller wrote on the pod; it writes none
// before the index has failed.
func failuresOfIndex(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[indexFailures])
	if err != nil {
		return 0
	}
	return n
}

// backoffLimit of all pods; a Job that counts by index has one only where it is
// given.
func backoffLimit(j *batchv1.Job) int {
	switch {
	case j.Spec.BackoffLimit != nil:
		return int(*j.Spec.BackoffLimit)
	case j.Spec.BackoffLimitPerIndex != nil:
		return math.MaxInt32
	}
	return defaultBackoffLimit
}
