package simulation

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (m *mixedCluster) addJob(a *mixedApp) {
	n, limit := a.n, int32(m.base.r.IntN(5))
	a.template.Spec.RestartPolicy = corev1.RestartPolicyNever
	j := &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: &n, BackoffLimit: &limit, Selector: matchLabels(a.labels),
		Template: *a.template.DeepCopy()},
		Status: batchv1.JobStatus{Active: n, Failed: int32(m.base.r.IntN(int(limit) + 1))}}
	if m.base.r.IntN(2) == 0 {
		j.Spec.Completions = new(n + int32(m.base.r.IntN(5)))
	}
	j.Spec.PodFailurePolicy = m.podFailurePolicy()
	m.addOwner(a, "batch/v1", "Job", &j.ObjectMeta, a.name)
	m.base.o.Jobs = append(m.base.o.Jobs, j)
	m.addPods(a, a.template.Labels, a.name+"-%02d")
	m.addJobTrouble(a, j)
}

// podFailurePolicy returns a random policy, or nil. Some policies have rules before or after the
// rule on DisruptionTarget.
func (m *mixedCluster) podFailurePolicy() *batchv1.PodFailurePolicy {
	on := func(action batchv1.PodFailurePolicyAction, of corev1.PodConditionType, is corev1.ConditionStatus) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: of,
			Status: is}}}
	}
	code := func(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn,
				Values: []int32{pickRandom(m.base.r, int32(42), 137, 143)}}}
	}
	fail, ignore, count := batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount
	disrupted := on(ignore, corev1.DisruptionTarget, corev1.ConditionTrue)
	rules := pickRandom(m.base.r, nil, nil, nil,
		[]batchv1.PodFailurePolicyRule{disrupted},
		[]batchv1.PodFailurePolicyRule{on(fail, corev1.DisruptionTarget, corev1.ConditionTrue)},
		[]batchv1.PodFailurePolicyRule{code(fail), disrupted},
		[]batchv1.PodFailurePolicyRule{on(fail, corev1.PodReady, corev1.ConditionFalse), disrupted},
		[]batchv1.PodFailurePolicyRule{code(count), disrupted},
		[]batchv1.PodFailurePolicyRule{code(ignore)},
		[]batchv1.PodFailurePolicyRule{on(fail, corev1.DisruptionTarget, corev1.ConditionFalse), disrupted, code(fail)},
	)
	if rules == nil {
		return nil
	}
	return &batchv1.PodFailurePolicy{Rules: rules}
}

// addJobTrouble puts a Job into a state in which an eviction may fail the Job, or the evicted pod may
// not be replaced.
func (m *mixedCluster) addJobTrouble(a *mixedApp, j *batchv1.Job) {
	switch {
	case m.base.chance(0.1):
		j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"gone"}}
	case m.base.chance(0.1): // a terminating pod is not counted yet
		a.pods[0].DeletionTimestamp, a.pods[0].Finalizers = new(metav1.NewTime(m.base.now)), []string{batchv1.JobTrackingFinalizer}
	case m.base.chance(0.1): // with a limit per index
		j.Spec.BackoffLimitPerIndex, j.Spec.CompletionMode = new(int32(1)), new(batchv1.IndexedCompletion)
		a.pods[0].Annotations["batch.kubernetes.io/job-index-failure-count"] = "1"
	case m.base.chance(0.15): // a failed pod is not counted yet
		a.pods[0].Status.Phase, a.pods[0].Status.Conditions, a.pods[0].Finalizers = corev1.PodFailed, nil, []string{batchv1.JobTrackingFinalizer}
		*j.Spec.Parallelism--
	case m.base.chance(0.1): // a pod has succeeded
		if m.base.r.IntN(2) == 0 {
			j.Status.Succeeded = 1
		} else {
			a.pods[0].Status.Phase, a.pods[0].Status.Conditions = corev1.PodSucceeded, nil
			*j.Spec.Parallelism--
		}
	case m.base.chance(0.05):
		j.Spec.ManagedBy = new(pickRandom(m.base.r, "example.com/other", batchv1.JobControllerName))
	case m.base.chance(0.08):
		j.Spec.Suspend = new(true)
	case m.base.chance(0.08):
		j.Status.Conditions = []batchv1.JobCondition{{Type: pickRandom(m.base.r, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget),
			Status: corev1.ConditionTrue}}
	}
}

func (m *mixedCluster) addCronJob(a *mixedApp) {
	m.addJob(a)
	c := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "0 * * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: *a.template.DeepCopy()}}}}
	m.addOwner(a, "batch/v1", "CronJob", &c.ObjectMeta, a.name+"-cron")
	if m.base.chance(0.2) { // the CronJob does not exist
		return
	}
	m.base.o.CronJobs = append(m.base.o.CronJobs, c)
}

// addWorkflowJob adds a Job whose owner has an unknown kind.
func (m *mixedCluster) addWorkflowJob(a *mixedApp) {
	m.addJob(a)
	m.addOwner(a, "example.com/v1", "Thing", &metav1.ObjectMeta{}, a.name+"-flow")
}
