package planverifier

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// disruptedPodsTimeout is the time after which the disruption controller removes a pod from status.disruptedPods.
const disruptedPodsTimeout = 2 * time.Minute

// budgetState is the status that the disruption controller computes for a budget.
type budgetState struct {
	healthy, desired, expected int
	// scaled is false if a controller of the pods has no scale. For such a budget, the disruption
	// controller allows no disruptions.
	scaled bool
	// customScale is true if a pod has a custom controller whose scale only the API server knows.
	customScale bool
}

// allowed returns the number of Ready pods that may be evicted.
func (s budgetState) allowed() int {
	if !s.scaled || s.expected <= 0 || s.healthy < s.desired {
		return 0
	}
	return s.healthy - s.desired
}

// budgetStatus computes the status that the disruption controller would write for the current pods.
func (r *liveState) budgetStatus(b budget) budgetState {
	s := budgetState{scaled: true}
	var pods []*corev1.Pod
	for _, p := range r.pods {
		if !b.selects(p) {
			continue
		}
		pods = append(pods, p)
		if !isTerminating(p) && hasReadyCondition(p) && !b.recentlyEvicted(p, r.before.now) {
			s.healthy++
		}
	}
	switch minAvailable, maxUnavailable := b.Spec.MinAvailable, b.Spec.MaxUnavailable; {
	case maxUnavailable != nil:
		r.addReplicas(&s, pods)
		s.desired = max(0, s.expected-resolvePercent(*maxUnavailable, s.expected))
	case minAvailable != nil && minAvailable.Type == intstr.Int:
		s.expected, s.desired = len(pods), int(minAvailable.IntVal)
	case minAvailable != nil:
		r.addReplicas(&s, pods)
		s.desired = resolvePercent(*minAvailable, s.expected)
	}
	return s
}

// resolvePercent returns the number, or the percentage of n rounded up. The planner uses a library
// function for this; the verifier does not, so that both do not make the same mistake.
func resolvePercent(v intstr.IntOrString, n int) int {
	if v.Type == intstr.Int {
		return int(v.IntVal)
	}
	percent := 0
	for _, digit := range v.StrVal {
		if digit < '0' || digit > '9' {
			break
		}
		percent = percent*10 + int(digit-'0')
	}
	return (n*percent + 99) / 100
}

// recentlyEvicted reports whether the API server accepted an eviction of the pod within disruptedPodsTimeout.
func (b budget) recentlyEvicted(p *corev1.Pod, now time.Time) bool {
	at, listed := b.Status.DisruptedPods[p.Name]
	return listed && at.Add(disruptedPodsTimeout).After(now)
}

// addReplicas adds the replicas of the pods' controllers to s.expected and counts each controller once. If a
// ReplicaSet belongs to a Deployment, the Deployment counts, as in the disruption controller.
func (r *liveState) addReplicas(s *budgetState, pods []*corev1.Pod) {
	seen := map[string]bool{}
	for _, p := range pods {
		c := r.chainOf(p)
		if c.lowest() == nil {
			continue
		}
		counted := c.links[0]
		if counted.hasKind("ReplicaSet") && len(c.links) > 1 && c.links[1].hasKind("Deployment") && c.links[1].object != nil {
			counted = c.links[1]
		}
		id := counted.group + "/" + counted.kind + "/" + counted.name
		if seen[id] {
			continue
		}
		seen[id] = true
		switch n, known := counted.replicas(); {
		case counted.hasKind("Job"), counted.hasKind("DaemonSet"), counted.hasKind("CronJob"):
			s.scaled = false
		case known:
			s.expected += n
		case counted.hasKind("ReplicaSet"), counted.hasKind("StatefulSet"), counted.hasKind("ReplicationController"),
			counted.hasKind("Deployment"):
			s.scaled = false // the controller does not exist
		default:
			s.customScale = true
		}
	}
}

// checkBudgets checks a wave against every PodDisruptionBudget. Within a wave no replacement is Ready yet, and the
// evictions can happen in any order. Each eviction must therefore be allowed even after all others.
func (r *verifier) checkBudgets(calls []call) {
	taken := map[string][]call{}
	for _, c := range calls {
		budgets := r.before.budgets.of(c.pod)
		if len(budgets) > 1 {
			r.report(c.move, plan.MultiplePDBs, "%d budgets select it", len(budgets))
		}
		if r.isMovedByOperator(c) {
			continue // the API server is expected to refuse, so the budget loses nothing
		}
		for _, b := range budgets {
			taken[key(b)] = append(taken[key(b)], c)
		}
	}
	for _, b := range r.before.budgets {
		if mine := taken[key(b)]; len(mine) > 0 {
			r.checkBudget(b, mine)
		}
	}
}

// isMovedByOperator reports whether the move says that the pod's operator moves it. It reports moves that say so
// wrongly.
func (r *verifier) isMovedByOperator(c call) bool {
	if c.move.RequestOnly == "" {
		return false
	}
	_, annotated := c.pod.Annotations["descheduler.alpha.kubernetes.io/request-evict-only"]
	l := r.live.chainOf(c.pod).lowest()
	ok := l != nil && l.group == "kubevirt.io" && l.kind == "VirtualMachineInstance" || annotated && matchesAny(r.rules.Trusted, c.pod.Namespace)
	if !ok {
		r.report(c.move, plan.BlockedByPDB, "no operator moves it upon a request")
	}
	return ok
}

// checkBudget checks the evictions that one budget covers, as the eviction handler of the API server does.
// checkBudget uses the status that the disruption controller would write now, and in the first wave also the
// current status.
func (r *verifier) checkBudget(b budget, calls []call) {
	now := r.live.budgetStatus(b)
	first := calls[0].move.Wave == 1
	written := budgetState{healthy: int(b.Status.CurrentHealthy), desired: int(b.Status.DesiredHealthy)}
	gone := 0
	for _, c := range calls {
		if isReady(c.pod) {
			gone++
		}
	}
	for i, c := range calls {
		if b.Status.ObservedGeneration < b.Generation {
			r.report(c.move, plan.PDBNotObserved, "budget %s has generation %d, observed generation %d", b.Name, b.Generation,
				b.Status.ObservedGeneration)
		}
		if b.recentlyEvicted(c.pod, r.before.now) {
			r.report(c.move, plan.BlockedByPDB, "budget %s already counts its eviction", b.Name)
		}
		if n := countBudgetUse(b, calls[:i+1], now, gone); !now.customScale && !exemptFromBudget(b, c.pod, now, gone) && n > now.allowed() {
			r.report(c.move, plan.BlockedByPDB, "budget %s has %d healthy of %d desired (%d expected); the wave has used %d so far",
				b.Name, now.healthy, now.desired, now.expected, n)
		}
		if (first || now.customScale) && !exemptFromBudget(b, c.pod, written, 0) &&
			countBudgetUse(b, calls[:i+1], written, 0) > int(b.Status.DisruptionsAllowed) {
			r.report(c.move, plan.BlockedByPDB, "the status of budget %s allows %d; the wave has used %d so far", b.Name,
				b.Status.DisruptionsAllowed, i+1)
		}
	}
}

// exemptFromBudget reports whether the budget allows an eviction without counting it. The pod must not
// be Ready. In addition, either the policy allows the eviction, or the budget stays healthy without
// the Ready pods that the wave evicts. See docs/reference/safety.md.
func exemptFromBudget(b budget, p *corev1.Pod, s budgetState, gone int) bool {
	if hasReadyCondition(p) {
		return false
	}
	return ptr.Deref(b.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow || s.desired > 0 && s.healthy-gone >= s.desired
}

// countBudgetUse returns the number of evictions that count against the budget.
func countBudgetUse(b budget, calls []call, s budgetState, gone int) int {
	n := 0
	for _, c := range calls {
		if !exemptFromBudget(b, c.pod, s, gone) {
			n++
		}
	}
	return n
}
