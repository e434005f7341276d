package planverifier

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/placeless"
)

// Check returns every violation of plan p on the cluster o at time now, in the order of its moves.
// If Check returns no violations, every prefix of the plan's evictions is allowed. The plan must
// list every rejection as a sample; otherwise Check reports MalformedPlan.
func Check(o *cluster.Objects, c Rules, p plan.Plan, now time.Time) []Violation {
	r := newVerifier(o, c, now)
	r.goals, r.guards.replaced = p.Goals, replacedPods(r.before.pods, p.Goals)
	for _, wave := range r.splitWaves(p) {
		r.checkWave(wave)
	}
	r.checkPassLimits(p, r.rules)
	r.checkHourlyLimits(p, r.rules)
	r.checkUsage(p)
	r.checkRejections(p)
	r.checkDisplacedMoves(p)
	for _, x := range placeless.Check(p, r.rules.Landing) {
		r.report(x.Move, x.Code, "%s", x.Detail)
	}
	checkStrategyLimits(r, p)
	checkAttribution(r, p)
	checkWorsened(r, p)
	checkUnderUtilized(r, p)
	checkSpreads(r, p)
	checkSoftMoves(r, p)
	checkMostImproved(r, p)
	before := emptied.Cluster{Pods: r.before.pods, Nodes: r.before.nodes, InScope: r.isNodeInScope, LeavesByItself: r.before.leavesByItself}
	for _, x := range emptied.Findings(before, p, c.Emptying) {
		r.violations = append(r.violations, Violation{x.Move.Step, strings.Trim(x.Move.Pod.String(), "/"), x.Code, x.Detail})
	}
	return r.violations
}

// splitWaves groups the moves by wave and checks their steps, waves and names. splitWaves omits moves of pods that
// do not exist.
func (r *verifier) splitWaves(p plan.Plan) [][]call {
	var out [][]call
	seen := map[string]bool{}
	step, wave := 0, 0
	for _, m := range p.Moves {
		if m.Step < step || m.Step > step+1 || m.Step < 1 || m.Wave < wave || m.Wave > wave+1 || m.Wave < 1 {
			r.report(m, MalformedPlan, "step %d of wave %d follows step %d of wave %d", m.Step, m.Wave, step, wave)
		}
		step = m.Step
		if m.Wave != wave {
			wave = m.Wave
			out = append(out, nil)
		}
		pod := r.before.pods[m.Pod.String()]
		if !r.checkMoveFields(m, pod) {
			continue
		}
		if seen[m.Pod.String()] {
			r.report(m, PodTwice, "an earlier step moves it")
		}
		seen[m.Pod.String()] = true
		out[len(out)-1] = append(out[len(out)-1], call{m, pod})
	}
	return out
}

func (r *verifier) checkMoveFields(m plan.Move, pod *corev1.Pod) bool {
	switch {
	case pod == nil:
		r.report(m, MalformedPlan, "the pod does not exist")
		return false
	case string(pod.UID) != m.Pod.UID:
		r.report(m, MalformedPlan, "its UID is %s, not %s", pod.UID, m.Pod.UID)
	case pod.Spec.NodeName != m.From:
		r.report(m, MalformedPlan, "it is on node %q, not on %q", pod.Spec.NodeName, m.From)
	case m.Removal != "" && (m.To != "" || !isTerminal(pod)):
		r.report(m, MalformedPlan, "only a pod that has ended is removed without a replacement")
	case m.Removal != "", m.WithoutPlace():
	case m.From == m.To && !r.mayReturn(m) || r.before.nodes[m.To] == nil:
		r.report(m, MalformedPlan, "it moves from node %q to node %q", m.From, m.To)
	}
	if top := r.before.chains[key(pod)].top(); top != nil && (m.Owner.Kind != top.kind || m.Owner.Name != top.name) {
		r.report(m, MalformedPlan, "its owner is %s %s, not %s %s", top.kind, top.name, m.Owner.Kind, m.Owner.Name)
	}
	return true
}

// thatForbid returns the rejections that forbid a move. Those that protect only running pods do not
// forbid the removal of a pod that has ended.
func thatForbid(m plan.Move, all []rejection) []rejection {
	return slices.DeleteFunc(all, func(no rejection) bool { return m.Removal != "" && protectsRunningPods(no.code) })
}

// protectsRunningPods reports whether a guard with the code does not protect a pod that has ended:
// such a pod has no work, no share of the replicas and no replacement.
func protectsRunningPods(code plan.Code) bool {
	switch code {
	case plan.PodTerminal, plan.JobPod, plan.JobWouldFail, plan.TooFewReplicas, plan.WorkloadDegraded, plan.LastReadyPod,
		plan.RequiredByAffinity, plan.NoPodDisruptionBudget, plan.PodTooYoung, plan.GracePeriodTooLong,
		plan.SchedulerNotResponding, plan.NoReplacement, plan.ReplacementRefused, plan.ReplacementMissing,
		plan.ScalingDown, plan.WorkloadPaused, plan.RolloutInProgress, plan.RevisionWouldChange, plan.EvictionInBackground:
		return true
	}
	return false
}

// checkWave checks the evictions of one wave in every order, and then places their
// replacements.
func (r *verifier) checkWave(calls []call) {
	for _, c := range calls {
		for _, no := range thatForbid(c.move, r.guards.rejections(c.pod)) {
			r.report(c.move, no.code, "%s", no.why)
		}
		r.checkBackoff(c)
		r.checkWindow(c)
		if c.move.Removal == "" {
			r.checkJobFailure(c)
		}
		r.checkTarget(c)
	}
	checkStrategyGuards(r, calls)
	calls = slices.DeleteFunc(slices.Clone(calls), func(c call) bool {
		if c.move.Removal != "" { // it counts nowhere, and no replacement follows
			delete(r.live.pods, key(c.pod))
		}
		return c.move.Removal != ""
	})
	r.checkInFlight(calls)
	r.checkBudgets(calls)
	r.checkUnavailable(calls)
	r.checkLastReady(calls)
	r.checkRequiredAffinity(calls)
	r.checkWaveOrders(calls)
	r.live.placeReplacements(calls)
}
