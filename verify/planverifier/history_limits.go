package planverifier

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// podWorkloadKey returns the key of the pod's workload in the planner state: group, kind, namespace
// and name. A pod without a controller is its own workload.
func (r *liveState) podWorkloadKey(p *corev1.Pod) string {
	if top := r.chains[key(p)].top(); top != nil {
		return strings.Join([]string{top.group, top.kind, p.Namespace, top.name}, "/")
	}
	return strings.Join([]string{"", "Pod", p.Namespace, p.Name}, "/")
}

func workloadKey(w plan.ObjectRef) string {
	return strings.Join([]string{apiGroup(w.APIVersion), w.Kind, w.Namespace, w.Name}, "/")
}

// checkBackoff checks that the workload of the pod is not in backoff.
func (r *verifier) checkBackoff(c call) {
	for _, b := range r.rules.State.Backoffs {
		if workloadKey(b.Workload) == r.podWorkloadKey(c.pod) && b.Until.After(r.now) {
			r.report(c.move, plan.BackedOff, "%s %s is in backoff until %s", b.Workload.Kind, b.Workload.Name, b.Until.Format(time.RFC3339))
		}
	}
}

// checkHourlyLimits checks the evictions of the last hour plus those of the plan against the hourly
// limits. An eviction counts as made at the end of its minute.
func (r *verifier) checkHourlyLimits(p plan.Plan) {
	owners, spaces, all := map[string]int{}, map[string]int{}, 0
	for _, e := range r.rules.State.Evictions {
		if r.now.Sub(e.Minute.Add(time.Minute)) < time.Hour {
			owners[workloadKey(e.Workload)] += e.Count
			spaces[e.Workload.Namespace] += e.Count
			all += e.Count
		}
	}
	for _, m := range p.Moves {
		pod := r.pods[m.Pod.String()]
		if pod == nil {
			continue
		}
		owner := r.podWorkloadKey(pod)
		owners[owner]++
		spaces[pod.Namespace]++
		all++
		if n, max := owners[owner], r.rules.PerHourOwner.forPods(0); n > max {
			r.report(m, plan.LimitPerHour, "%d evictions of %s within the hour; the limit is %d", n, owner, max)
		}
		if n, max := spaces[pod.Namespace], r.rules.PerHourNamespace.forPods(0); n > max {
			r.report(m, plan.LimitPerHour, "%d evictions in namespace %s within the hour; the limit is %d", n, pod.Namespace, max)
		}
		if max := r.rules.PerHourCluster.forPods(0); all > max {
			r.report(m, plan.LimitPerHour, "%d evictions within the hour; the limit is %d", all, max)
		}
	}
}
