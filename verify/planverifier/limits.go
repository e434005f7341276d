package planverifier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
)

// checkPassLimits checks the whole plan against the limits of a pass.
func (r *verifier) checkPassLimits(p plan.Plan, rules *Rules) {
	held := []struct {
		code  plan.Code
		limit Limit
		own   func(*WindowLimits) Limit
		of    func(pod *corev1.Pod) string // empty: the limit does not apply
	}{
		{plan.LimitPerPass, rules.PerPass, func(l *WindowLimits) Limit { return l.PerPass },
			func(*corev1.Pod) string { return "all" }},
		{plan.LimitPerNode, rules.PerNode, func(l *WindowLimits) Limit { return l.PerNode },
			func(pod *corev1.Pod) string { return pod.Spec.NodeName }},
		{plan.LimitPerNamespace, rules.PerNamespace, func(l *WindowLimits) Limit { return l.PerNamespace },
			func(pod *corev1.Pod) string { return pod.Namespace }},
		{plan.LimitPerOwner, rules.PerOwner, func(l *WindowLimits) Limit { return l.PerOwner },
			func(pod *corev1.Pod) string { return r.before.chains[key(pod)].id }},
		{plan.LimitPerZone, rules.PerZone, func(l *WindowLimits) Limit { return l.PerZone },
			func(pod *corev1.Pod) string { return r.before.zoneOf(pod) }},
	}
	for _, h := range held {
		total, moved := map[string]int{}, map[string]int{}
		for _, pod := range r.before.pods {
			if r.before.isBound(pod) && !isTerminal(pod) {
				total[h.of(pod)]++
			}
		}
		for _, m := range p.Moves {
			pod := r.before.pods[m.Pod.String()]
			if pod == nil || h.of(pod) == "" {
				continue
			}
			group := h.of(pod)
			moved[group]++
			if most := r.limitNow(h.limit, h.own, total[group]); moved[group] > most {
				r.report(m, h.code, "%d of the %d pods of %s; the limit is %d", moved[group], total[group], group, most)
			}
		}
	}
}

// limitNow returns how many evictions a limit allows for a number of pods. If each open window has limits, the most
// generous of them applies too; own selects it.
func (r *verifier) limitNow(limit Limit, own func(*WindowLimits) Limit, pods int) int {
	most, open := 0, false
	for i, w := range r.rules.Allow {
		if !r.guards.windows.IsOpen(w, false, r.before.now) {
			continue
		}
		l, limited := r.rules.WindowLimits[i]
		if !limited {
			return limit.forPods(pods)
		}
		most, open = max(most, own(&l).forPods(pods)), true
	}
	if open {
		return min(most, limit.forPods(pods))
	}
	return limit.forPods(pods)
}

func (w *clusterIndex) zoneOf(p *corev1.Pod) string {
	if n := w.nodes[p.Spec.NodeName]; n != nil {
		return n.Labels[zoneLabel]
	}
	return ""
}

// checkRejections checks that samples and counts agree, that rejected pods exist, and that
// every pod that could help an unmet goal has a reason.
func (r *verifier) checkRejections(p plan.Plan) {
	counts, said := map[plan.Code]int{}, map[string]bool{}
	for _, no := range p.Rejections.Samples {
		counts[no.Reason.Code]++
		said[no.Pod.String()] = true
		if r.before.pods[no.Pod.String()] == nil {
			r.violations = append(r.violations, Violation{0, no.Pod.String(), MalformedPlan, "the rejected pod does not exist"})
		}
	}
	if !maps.Equal(counts, p.Rejections.Counts) {
		r.violations = append(r.violations, Violation{0, "", MalformedPlan, fmt.Sprintf("the plan counts %v rejections and lists %v",
			p.Rejections.Counts, counts)})
		return
	}
	for _, m := range p.Moves {
		said[m.Pod.String()] = true
	}
	for _, g := range p.Goals {
		if p.After.Excess[g.ID] <= 0 || g.Constraint {
			continue
		}
		for _, k := range r.podsThatHelp(g) {
			if !said[k] {
				r.violations = append(r.violations, Violation{0, k, UnexplainedStay, "goal " + g.ID + " (" + string(g.Kind) + " " +
					g.Subject.String() + ") is not met, and the plan gives no reason why the pod stays"})
			}
		}
	}
}

// podsThatHelp returns the pods whose eviction would certainly serve a goal.
func (r *verifier) podsThatHelp(g plan.Goal) []string {
	var out []string
	if g.Kind == plan.NodeBelow {
		for k, p := range r.before.pods {
			takes := requestsResource(p, g.Resource)
			if g.Basis == plan.BasisLoad {
				takes = hasUsage(r.before.objects, p, g.Resource)
			}
			if p.Spec.NodeName == g.Subject.Name && !isTerminal(p) && !r.before.leavesByItself(p) && takes {
				out = append(out, k)
			}
		}
	}
	if g.Kind == plan.NodeEmpty {
		out = emptied.PodsOn(r.before.pods, g.Subject.Name)
	}
	if g.Kind == plan.PodAway {
		out = append(out, g.Subject.Namespace+"/"+g.Subject.Name)
	}
	slices.Sort(out)
	return out
}

func requestsResource(p *corev1.Pod, name string) bool {
	if name == string(corev1.ResourcePods) {
		return true
	}
	for _, c := range p.Spec.Containers {
		if q, ok := c.Resources.Requests[corev1.ResourceName(name)]; ok && !q.IsZero() {
			return true
		}
	}
	return false
}

// podWorkloadKey returns the key of the pod's workload in the planner state: group, kind, namespace
// and name. A pod without a controller is its own workload.
func (w *clusterIndex) podWorkloadKey(p *corev1.Pod) string {
	if top := w.chains[key(p)].top(); top != nil {
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
		if workloadKey(b.Workload) == r.before.podWorkloadKey(c.pod) && b.Until.After(r.before.now) {
			r.report(c.move, plan.BackedOff, "%s %s is in backoff until %s", b.Workload.Kind, b.Workload.Name, b.Until.Format(time.RFC3339))
		}
	}
}

// checkHourlyLimits checks the evictions of the last hour plus those of the plan against the hourly
// limits. An eviction counts as made at the end of its minute.
func (r *verifier) checkHourlyLimits(p plan.Plan, rules *Rules) {
	owners, spaces, all := map[string]int{}, map[string]int{}, 0
	count := func(owner, namespace string, n int) {
		owners[owner] += n
		spaces[namespace] += n
		all += n
	}
	for _, e := range rules.State.Evictions {
		if r.before.now.Sub(e.Minute.Add(time.Minute)) < time.Hour {
			count(workloadKey(e.Workload), e.Workload.Namespace, e.Count)
		}
	}
	perOwner := r.limitNow(rules.PerHourOwner, func(l *WindowLimits) Limit { return l.PerHourOwner }, 0)
	perNamespace := r.limitNow(rules.PerHourNamespace, func(l *WindowLimits) Limit { return l.PerHourNamespace }, 0)
	inCluster := r.limitNow(rules.PerHourCluster, func(l *WindowLimits) Limit { return l.PerHourCluster }, 0)
	for _, m := range p.Moves {
		pod := r.before.pods[m.Pod.String()]
		if pod == nil {
			continue
		}
		owner := r.before.podWorkloadKey(pod)
		count(owner, pod.Namespace, 1)
		if n := owners[owner]; n > perOwner {
			r.report(m, plan.LimitPerHour, "%d evictions of %s within the hour; the limit is %d", n, owner, perOwner)
		}
		if n := spaces[pod.Namespace]; n > perNamespace {
			r.report(m, plan.LimitPerHour, "%d evictions in namespace %s within the hour; the limit is %d", n, pod.Namespace, perNamespace)
		}
		if all > inCluster {
			r.report(m, plan.LimitPerHour, "%d evictions within the hour; the limit is %d", all, inCluster)
		}
	}
}
