package planverifier

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// ClusterAfter returns the cluster after a plan was interrupted. All replacements of earlier waves
// exist. In the interrupted wave, evicted pods are terminating and their replacements are not bound
// yet.
func ClusterAfter(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course CallOrder) *cluster.Objects {
	s := runServer(o, c, p, now, course)
	out := *o
	out.Pods = nil
	for _, k := range sortedKeys(s.livePods) {
		out.Pods = append(out.Pods, s.livePods[k])
	}
	for _, c := range s.awaitingReplacement {
		if low := s.chainOf(c.pod).lowest(); low != nil && !low.hasKind("StatefulSet") {
			out.Pods = append(out.Pods, s.replacement(c))
		}
	}
	out.PodDisruptionBudgets = make([]*policyv1.PodDisruptionBudget, 0, len(s.budgets))
	for _, b := range s.budgets {
		out.PodDisruptionBudgets = append(out.PodDisruptionBudgets, b.PodDisruptionBudget)
	}
	out.Jobs = slices.Clone(o.Jobs)
	for _, c := range s.evicted {
		s.countFailure(out.Jobs, c.pod)
	}
	return &out
}

// countFailure increments the failure count of the evicted pod's Job.
func (s *apiServer) countFailure(jobs []*batchv1.Job, victim *corev1.Pod) {
	job, ok := s.jobOf(victim)
	if !ok || s.jobFailureAction(job) == batchv1.PodFailurePolicyActionIgnore {
		return
	}
	for i, j := range jobs {
		if j.Namespace == job.Namespace && j.Name == job.Name {
			jobs[i] = j.DeepCopy()
			jobs[i].Status.Failed++
		}
	}
}
