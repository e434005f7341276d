package planverifier

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// CallOrder is one possible sequence of the evictions of a plan.
type CallOrder struct {
	// Order returns the order of the n evictions of a wave. Nil means as planned.
	Order func(n int) []int
	// LateStatus delays every update of a budget's status until a replacement of the wave is
	// created. Without LateStatus, the disruption controller updates each status before the first
	// eviction and after every eviction.
	LateStatus bool
	// EarlyReplacement is called after each eviction. If it returns true, the first missing
	// replacement of the wave becomes Ready at once. If EarlyReplacement is nil, all replacements
	// become Ready at the end of the wave.
	EarlyReplacement func() bool
	// MaxCalls is the number of evictions after which the sequence ends. 0 means no limit.
	MaxCalls int
}

// Replay answers the evictions of a plan one by one, as an API server and its disruption controller
// do. Replay checks budgets and limits after each eviction. Replay finds the violations that depend
// on the order of evictions; Check finds all others.
func Replay(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course CallOrder) []Violation {
	return runServer(o, c, p, now, course).verifier.violations
}

// apiServer answers evictions, maintains the status of every PodDisruptionBudget, and lets a verifier check each state.
type apiServer struct {
	verifier            *verifier
	live                *liveState // of the verifier
	now                 time.Time
	budgets             budgetList // with the status of the moment
	order               CallOrder
	calls               int
	awaitingReplacement []call // calls of the wave without a replacement, in order
	evicted             []call // all accepted calls
	// healthyOffset maps each budget to the healthy pods in its status minus the healthy pods in the cluster.
	healthyOffset map[string]int
}

func runServer(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course CallOrder) *apiServer {
	r := newVerifier(o, c, now)
	waves := r.splitWaves(p)
	r.violations = nil // Check reports them
	s := &apiServer{verifier: r, live: r.live, now: now, budgets: slices.Clone(r.before.budgets), order: course,
		healthyOffset: map[string]int{}}
	for i, b := range s.budgets {
		s.budgets[i].PodDisruptionBudget = b.DeepCopy()
		s.healthyOffset[key(b)] = int(b.Status.CurrentHealthy) - s.live.budgetStatus(b).healthy
	}
	if !course.LateStatus {
		s.updateBudgets()
	}
	for _, w := range waves {
		if s.reachedMaxCalls() {
			break
		}
		s.runWave(w)
	}
	return s
}

func (s *apiServer) reachedMaxCalls() bool {
	return s.order.MaxCalls > 0 && s.calls >= s.order.MaxCalls
}

// runWave evicts the pods of one wave. If MaxCalls interrupts the wave, runWave creates no further replacements.
func (s *apiServer) runWave(calls []call) {
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	if s.order.Order != nil {
		order = s.order.Order(len(calls))
	}
	for _, i := range order {
		if s.reachedMaxCalls() {
			return
		}
		s.calls++
		s.evict(calls[i])
		if s.order.EarlyReplacement != nil && s.order.EarlyReplacement() && len(s.awaitingReplacement) > 0 {
			s.updateBudgets()
			s.live.placeReplacements(s.awaitingReplacement[:1])
			s.awaitingReplacement = s.awaitingReplacement[1:]
		}
		if !s.order.LateStatus {
			s.updateBudgets()
		}
	}
	if s.reachedMaxCalls() {
		return // the replacements are still missing
	}
	s.updateBudgets()
	s.live.placeReplacements(s.awaitingReplacement)
	s.awaitingReplacement = nil
	s.updateBudgets()
}

// evict answers one eviction request and checks the remaining pods.
func (s *apiServer) evict(c call) {
	k := key(c.pod)
	pod := s.live.pods[k]
	if pod == nil || isTerminating(pod) || !s.answerEviction(c, pod) {
		return
	}
	wasReady := isReady(pod)
	victim := pod.DeepCopy()
	victim.DeletionTimestamp = new(metav1.NewTime(s.now))
	s.live.pods[k] = victim
	s.awaitingReplacement = append(s.awaitingReplacement, c)
	s.evicted = append(s.evicted, c)
	if wasReady {
		s.checkBudgetsAfter(c)
		s.checkServicesAfter(c)
	}
	s.checkWorkloadAfter(c)
	s.verifier.checkInFlight(s.awaitingReplacement)
}

// answerEviction follows the eviction handler of Kubernetes (pkg/registry/core/pod/storage/eviction.go).
func (s *apiServer) answerEviction(c call, pod *corev1.Pod) bool {
	if isTerminal(pod) || pod.Status.Phase == corev1.PodPending {
		return true // no budget applies
	}
	budgets := s.budgets.of(pod)
	if len(budgets) == 0 || len(budgets) == 1 && c.move.RequestOnly != "" { // the operator moves it, see isMovedByOperator
		return true
	}
	if len(budgets) > 1 {
		s.verifier.report(c.move, plan.MultiplePDBs, "the API server rejects the eviction: %d budgets select the pod", len(budgets))
		return false
	}
	b := budgets[0]
	st := &b.Status
	if !hasReadyCondition(pod) {
		if ptr.Deref(b.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow ||
			st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy {
			return true
		}
	}
	switch {
	case st.ObservedGeneration < b.Generation:
		s.verifier.report(c.move, plan.PDBNotObserved, "the API server rejects the eviction: the change of budget %s is not observed yet", b.Name)
		return false
	case st.DisruptionsAllowed < 1:
		s.verifier.report(c.move, plan.BlockedByPDB, "the API server rejects the eviction: budget %s allows %d at call %d", b.Name,
			st.DisruptionsAllowed, s.calls)
		return false
	}
	st.DisruptionsAllowed--
	if st.DisruptedPods == nil {
		st.DisruptedPods = map[string]metav1.Time{}
	}
	st.DisruptedPods[pod.Name] = metav1.NewTime(s.now)
	return true
}

// updateBudgets updates the status of every budget as the disruption controller does.
func (s *apiServer) updateBudgets() {
	for _, b := range s.budgets {
		for name, at := range b.Status.DisruptedPods {
			if pod := s.live.pods[b.Namespace+"/"+name]; pod == nil || isTerminating(pod) || !at.Add(disruptedPodsTimeout).After(s.now) {
				delete(b.Status.DisruptedPods, name)
			}
		}
		now, st := s.live.budgetStatus(b), &b.Status
		if now.customScale { // only the API server knows the scale, so keep its expected and desired counts
			now.expected, now.desired, now.scaled = int(st.ExpectedPods), int(st.DesiredHealthy), true
			now.healthy += s.healthyOffset[key(b)]
		}
		st.ObservedGeneration = b.Generation
		st.DisruptionsAllowed = int32(now.allowed())
		if now.scaled {
			st.CurrentHealthy, st.DesiredHealthy, st.ExpectedPods = int32(now.healthy), int32(now.desired), int32(now.expected)
		}
	}
}

// checkBudgetsAfter checks that every budget of an evicted Ready pod still has enough healthy pods.
func (s *apiServer) checkBudgetsAfter(c call) {
	if c.move.RequestOnly != "" {
		return // its operator keeps the pod until another one does its work
	}
	for _, b := range s.budgets.of(c.pod) {
		now := s.live.budgetStatus(b)
		if now.customScale {
			now.desired = int(b.Status.DesiredHealthy)
			now.healthy += s.healthyOffset[key(b)]
		}
		if now.healthy < now.desired {
			s.verifier.report(c.move, plan.BlockedByPDB, "budget %s has %d healthy pods of %d after call %d", b.Name, now.healthy, now.desired, s.calls)
		}
	}
}

func (s *apiServer) checkServicesAfter(c call) {
	if !s.verifier.rules.Protect["LastReadyPods"] {
		return
	}
	for _, svc := range s.verifier.before.services {
		if svc.selects(c.pod) && s.live.readyPodsOfService(svc) == 0 {
			s.verifier.report(c.move, plan.LastReadyPod, "Service %s has no Ready pod after call %d", svc.key, s.calls)
		}
	}
}

func (s *apiServer) checkWorkloadAfter(c call) {
	owner := s.live.chainOf(c.pod).id
	if owner == "" || len(s.budgets.of(c.pod)) > 0 {
		return
	}
	want, known := s.verifier.guards.desiredReplicas(c.pod)
	if down := want - s.live.readyPods(c.pod.Namespace, owner); known && down > s.verifier.rules.MaxUnavailableWithoutPDB {
		s.verifier.report(c.move, plan.WorkloadUnavailable, "%d of %d pods of %s are unavailable after call %d", down, want, owner, s.calls)
	}
}

// ClusterAfter returns the cluster after a plan was interrupted. All replacements of earlier waves exist. In the
// interrupted wave, evicted pods are terminating and their replacements are not bound yet.
func ClusterAfter(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course CallOrder) *cluster.Objects {
	s := runServer(o, c, p, now, course)
	out := *o
	out.Pods = nil
	for _, k := range sortedKeys(s.live.pods) {
		out.Pods = append(out.Pods, s.live.pods[k])
	}
	for _, c := range s.awaitingReplacement {
		if low := s.live.chainOf(c.pod).lowest(); low != nil && !low.hasKind("StatefulSet") {
			out.Pods = append(out.Pods, s.live.replacement(c))
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
	job, ok := s.verifier.before.jobOf(victim)
	if !ok || jobFailureAction(job) == batchv1.PodFailurePolicyActionIgnore {
		return
	}
	for i, j := range jobs {
		if j.Namespace == job.Namespace && j.Name == job.Name {
			jobs[i] = j.DeepCopy()
			jobs[i].Status.Failed++
		}
	}
}
