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
var jobWouldFail = Rule{plan.JobWouldFail, podScope, func(in Input) (string, bool) {
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
	switch action, sure := onDisruption(j); {
	case action == batchv1.PodFailurePolicyActionIgnore:
		return "", false
	case action != batchv1.PodFailurePolicyActionCount && sure:
		return fmt.Sprintf("Job %s fails when a pod is disrupted (podFailurePolicy)", j.Name), true
	case action != batchv1.PodFailurePolicyActionCount:
		return fmt.Sprintf("Job %s may fail when a pod is disrupted: another rule of its podFailurePolicy may match first", j.Name), true
	}
	if limit := j.Spec.BackoffLimitPerIndex; limit != nil {
		if n := failuresOfIndex(p.Object) + 1; n > int(*limit) {
			return fmt.Sprintf("the eviction would be failure %d of its index in Job %s, above its backoffLimitPerIndex %d", n, j.Name, *limit), true
		}
	}
	n, limit := failures(s, p, j)+before+1, backoffLimit(j)
	return fmt.Sprintf("the eviction would be failure %d of Job %s, above its backoffLimit %d", n, j.Name, limit), n > limit
}

// onDisruption is the worst that the podFailurePolicy may do about an evicted
// pod. The first rule that matches decides: one about DisruptionTarget surely
// does, but how containers will end, and which other conditions the pod will
// have, is not known beforehand, so that any rule before it may. Sure says that
// none does.
func onDisruption(j *batchv1.Job) (worst batchv1.PodFailurePolicyAction, sure bool) {
	if j.Spec.PodFailurePolicy == nil {
		return batchv1.PodFailurePolicyActionCount, true
	}
	sure, end := true, batchv1.PodFailurePolicyActionCount
	worst = batchv1.PodFailurePolicyActionIgnore
	for _, r := range j.Spec.PodFailurePolicy.Rules {
		if slices.ContainsFunc(r.OnPodConditions, isDisruption) {
			end = r.Action
			break
		}
		other := func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type != corev1.DisruptionTarget }
		if (r.OnExitCodes != nil || slices.ContainsFunc(r.OnPodConditions, other)) && harm(r.Action) > harm(worst) {
			worst, sure = r.Action, false
		}
	}
	if harm(end) >= harm(worst) {
		return end, true
	}
	return worst, sure
}

func isDisruption(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return c.Type == corev1.DisruptionTarget && (c.Status == "" || c.Status == corev1.ConditionTrue)
}

// harm orders actions; one that is not known may be as bad as any.
func harm(a batchv1.PodFailurePolicyAction) int {
	switch a {
	case batchv1.PodFailurePolicyActionIgnore:
		return 0
	case batchv1.PodFailurePolicyActionCount:
		return 1
	case batchv1.PodFailurePolicyActionFailIndex:
		return 2
	}
	return 3
}

// failures are those in the status, those that its controller is about to add
// to it, and those to come: pods on their way out, or failed, that it has not
// let go of.
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
	uncounted := func(o *corev1.Pod) bool {
		return slices.Contains(o.Finalizers, batchv1.JobTrackingFinalizer) && !slices.Contains(adding, o.UID)
	}
	for _, id := range w.Pods {
		if s.Pods[id].Terminating && uncounted(s.Pods[id].Object) {
			n++
		}
	}
	for _, id := range w.TerminalPods {
		if o := s.Pods[id].Object; o.Status.Phase == corev1.PodFailed && uncounted(o) {
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
