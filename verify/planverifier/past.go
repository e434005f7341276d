package planverifier

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// remembered names the workload of a pod as what is remembered names it: by
// group, kind, namespace and name. A pod of none stands for itself.
func (r *replay) remembered(p *corev1.Pod) string {
	if top := r.chains[key(p)].top(); top != nil {
		return strings.Join([]string{top.group, top.kind, p.Namespace, top.name}, "/")
	}
	return strings.Join([]string{"", "Pod", p.Namespace, p.Name}, "/")
}

func workload(w plan.ObjectRef) string {
	group, _, grouped := strings.Cut(w.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return strings.Join([]string{group, w.Kind, w.Namespace, w.Name}, "/")
}

// rests says that a pod's workload rests after a bad landing.
func (r *replay) rests(c call) {
	for _, b := range r.rules.Past.Backoffs {
		if workload(b.Workload) == r.remembered(c.pod) && b.Until.After(r.now) {
			r.object(c.move, plan.BackedOff, "%s %s rests until %s", b.Workload.Kind, b.Workload.Name, b.Until.Format(time.RFC3339))
		}
	}
}

// hour counts the evictions of the last hour, and then the plan's, against the
// limits of an hour. What went in a minute may have gone in its last moment.
func (r *replay) hour(p plan.Plan) {
	owners, spaces, all := map[string]int{}, map[string]int{}, 0
	for _, e := range r.rules.Past.Evictions {
		if r.now.Sub(e.Minute.Add(time.Minute)) >= time.Hour {
			continue
		}
		owners[workload(e.Workload)] += e.Count
		spaces[e.Workload.Namespace] += e.Count
		all += e.Count
	}
	for _, m := range p.Moves {
		pod := r.pods[m.Pod.String()]
		if pod == nil {
			continue
		}
		owner := r.remembered(pod)
		owners[owner]++
		spaces[pod.Namespace]++
		all++
		if n, max := owners[owner], r.rules.PerHourOwner.of(0); n > max {
			r.object(m, plan.LimitPerHour, "%d of %s within the hour; %d may go", n, owner, max)
		}
		if n, max := spaces[pod.Namespace], r.rules.PerHourNamespace.of(0); n > max {
			r.object(m, plan.LimitPerHour, "%d in namespace %s within the hour; %d may go", n, pod.Namespace, max)
		}
		if max := r.rules.PerHourCluster.of(0); all > max {
			r.object(m, plan.LimitPerHour, "%d within the hour; %d may go", all, max)
		}
	}
}
