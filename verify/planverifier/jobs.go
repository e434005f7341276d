package planverifier

import (
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// checkJobFailure counts an eviction as the Job controller counts a failed pod with the condition
// DisruptionTarget. The first matching rule of the podFailurePolicy decides. If no rule matches,
// the failure counts against backoffLimit.
func (r *verifier) checkJobFailure(c call) {
	job, ok := r.before.jobOf(c.pod)
	if !ok {
		return
	}
	switch jobFailureAction(job) {
	case batchv1.PodFailurePolicyActionIgnore:
		return
	case batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex:
		r.report(c.move, plan.JobWouldFail, "the podFailurePolicy of its Job could fail the Job")
		return
	}
	if per := job.Spec.BackoffLimitPerIndex; per != nil {
		failed, _ := strconv.Atoi(c.pod.Annotations["batch.kubernetes.io/job-index-failure-count"]) // a missing annotation means no failure
		if failed+1 > int(*per) {
			r.report(c.move, plan.JobWouldFail, "its index would have failed %d times, backoffLimitPerIndex is %d", failed+1, *per)
		}
	}
	r.live.jobFailures[key(job)]++
	limit := int32(6) // the default of the API
	if job.Spec.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	limit = ptr.Deref(job.Spec.BackoffLimit, limit)
	if failed := r.before.failedPods(job) + r.live.jobFailures[key(job)]; failed > int(limit) {
		r.report(c.move, plan.JobWouldFail, "its Job would have failed %d times, backoffLimit is %d", failed, limit)
	}
}

// failedPods returns the number of failures of a Job: those in its status and those that the Job
// controller has not counted yet.
func (w *clusterIndex) failedPods(job *batchv1.Job) int {
	n, counted := int(job.Status.Failed), map[string]bool{}
	if u := job.Status.UncountedTerminatedPods; u != nil {
		for _, id := range u.Failed {
			counted[string(id)] = true
		}
	}
	for _, p := range w.pods {
		mine, ok := w.jobOf(p)
		if ok && mine == job && (p.Status.Phase == corev1.PodFailed || isTerminating(p) && !isTerminal(p)) &&
			slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) {
			counted[string(p.UID)] = true
		}
	}
	return n + len(counted)
}

func (w *clusterIndex) jobOf(p *corev1.Pod) (*batchv1.Job, bool) {
	low := w.chains[key(p)].lowest()
	if low == nil {
		return nil, false
	}
	job, ok := low.object.(*batchv1.Job)
	return job, ok
}

// jobFailureAction returns the worst action that the podFailurePolicy can take for an evicted pod. The first rule
// on DisruptionTarget certainly matches, so later rules do not count. Any earlier rule may match, because exit
// codes and other conditions are unknown before the eviction.
func jobFailureAction(job *batchv1.Job) batchv1.PodFailurePolicyAction {
	policy := job.Spec.PodFailurePolicy
	if policy == nil {
		return batchv1.PodFailurePolicyActionCount
	}
	possible := map[batchv1.PodFailurePolicyAction]bool{}
	certain := false
	for _, rule := range policy.Rules {
		fits := rule.OnExitCodes != nil
		for _, on := range rule.OnPodConditions {
			switch {
			case on.Type != corev1.DisruptionTarget:
				fits = true
			case on.Status != corev1.ConditionFalse && on.Status != corev1.ConditionUnknown:
				fits, certain = true, true
			}
		}
		if fits {
			possible[rule.Action] = true
		}
		if certain {
			break
		}
	}
	if !certain { // possibly no rule matches
		possible[batchv1.PodFailurePolicyActionCount] = true
	}
	for _, worst := range []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionCount} {
		if possible[worst] {
			return worst
		}
	}
	return batchv1.PodFailurePolicyActionIgnore
}
