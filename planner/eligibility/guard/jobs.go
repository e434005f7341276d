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

// The replacement of a Job's pod starts the work again, and the Job controller may count the eviction
// against backoffLimit.
var jobPod = Rule{plan.JobPod, TemplateScope, func(in Input) (string, bool) {
	isJob := in.Pod.Controller != nil && in.Pod.Controller.Kind == "Job"
	return "the pod belongs to a Job and would lose its work", isJob && in.Options.Protect[ProtectJobs]
}}

// defaultBackoffLimit is the default of the batch/v1 API.
const defaultBackoffLimit = 6

// indexFailureCount is the annotation with the number of failures of an index of a Job.
const indexFailureCount = "batch.kubernetes.io/job-index-failure-count"

// The Job controller counts an evicted pod as failed, unless a podFailurePolicy ignores the
// condition DisruptionTarget. If the failures exceed a limit, the Job fails and gets no replacement.
var jobWouldFail = Rule{plan.JobWouldFail, PlanScope, func(in Input) (string, bool) {
	return JobFails(in.Snapshot, in.Pod, 0)
}}

// JobFails reports whether the eviction of the pod would make its Job fail. earlierEvictions is
// the number of other pods of the Job that are evicted first.
func JobFails(s *cluster.Snapshot, p *cluster.Pod, earlierEvictions int) (message string, fails bool) {
	if len(p.Owners) == 0 {
		return "", false
	}
	j, ok := p.Owners[0].(*batchv1.Job)
	if !ok {
		return "", false
	}
	switch action, certain := actionOnDisruption(j); {
	case action == batchv1.PodFailurePolicyActionIgnore:
		return "", false
	case action != batchv1.PodFailurePolicyActionCount && certain:
		return "Job " + j.Name + " fails when a pod is disrupted (podFailurePolicy)", true
	case action != batchv1.PodFailurePolicyActionCount:
		return "Job " + j.Name + " may fail when a pod is disrupted: another rule of its podFailurePolicy may match first", true
	}
	if limit := j.Spec.BackoffLimitPerIndex; limit != nil {
		if n := failuresOfIndex(p.Object) + 1; n > int(*limit) {
			return fmt.Sprintf("the eviction would be failure %d of the pod's index in Job %s; backoffLimitPerIndex allows %d",
				n, j.Name, *limit), true
		}
	}
	n, limit := countFailures(s, p, j)+earlierEvictions+1, backoffLimit(j)
	if n <= limit {
		return "", false
	}
	return fmt.Sprintf("the eviction would be failure %d of Job %s, above its backoffLimit %d", n, j.Name, limit), true
}

// actionOnDisruption returns the worst action that the podFailurePolicy may take for an evicted pod. Kubernetes applies
// the first matching rule, and a rule for DisruptionTarget always matches. Earlier rules may match too, because the
// pod's exit codes and other conditions are unknown. If an earlier rule has the worst action, certain is false.
func actionOnDisruption(j *batchv1.Job) (worst batchv1.PodFailurePolicyAction, certain bool) {
	if j.Spec.PodFailurePolicy == nil {
		return batchv1.PodFailurePolicyActionCount, true
	}
	certain, onDisruption := true, batchv1.PodFailurePolicyActionCount
	worst = batchv1.PodFailurePolicyActionIgnore
	for _, r := range j.Spec.PodFailurePolicy.Rules {
		if slices.ContainsFunc(r.OnPodConditions, matchesDisruption) {
			onDisruption = r.Action
			break
		}
		other := func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool { return c.Type != corev1.DisruptionTarget }
		if (r.OnExitCodes != nil || slices.ContainsFunc(r.OnPodConditions, other)) && severity(r.Action) > severity(worst) {
			worst, certain = r.Action, false
		}
	}
	if severity(onDisruption) >= severity(worst) {
		return onDisruption, true
	}
	return worst, certain
}

// matchesDisruption reports whether the pattern matches the condition of an evicted pod.
func matchesDisruption(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
	return c.Type == corev1.DisruptionTarget && (c.Status == "" || c.Status == corev1.ConditionTrue)
}

// severity orders actions by their effect on the Job. An unknown action gets the highest value.
func severity(a batchv1.PodFailurePolicyAction) int {
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

// countFailures counts the failed pods of the Job. Besides the pods in the status, it counts the pods that
// the Job controller is adding to the status, and terminating or failed pods with the Job's finalizer.
func countFailures(s *cluster.Snapshot, p *cluster.Pod, j *batchv1.Job) int {
	n := int(j.Status.Failed)
	var beingCounted []types.UID
	if u := j.Status.UncountedTerminatedPods; u != nil {
		beingCounted = u.Failed
	}
	w := s.WorkloadOf(p)
	if n += len(beingCounted); w == nil {
		return n
	}
	uncounted := func(o *corev1.Pod) bool {
		return slices.Contains(o.Finalizers, batchv1.JobTrackingFinalizer) && !slices.Contains(beingCounted, o.UID)
	}
	for _, id := range slices.Concat(w.Pods, w.TerminalPods) {
		p := &s.Pods[id]
		if (p.Terminating && !p.Terminal || p.Object.Status.Phase == corev1.PodFailed) && uncounted(p.Object) {
			n++
		}
	}
	return n
}

// failuresOfIndex returns the number of earlier failures of the pod's index. The annotation is missing
// before the first failure.
func failuresOfIndex(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[indexFailureCount])
	if err != nil {
		return 0
	}
	return n
}

// backoffLimit returns the limit for all pods of the Job. A Job with backoffLimitPerIndex has no default limit.
func backoffLimit(j *batchv1.Job) int {
	switch {
	case j.Spec.BackoffLimit != nil:
		return int(*j.Spec.BackoffLimit)
	case j.Spec.BackoffLimitPerIndex != nil:
		return math.MaxInt32
	}
	return defaultBackoffLimit
}
