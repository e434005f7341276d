// Package guard decides whether Evenkeel may evict a pod at all, for any purpose. Check applies Rules in their order
// and returns the reason of the first rule that refuses. If a rule lacks information, the rule refuses.
//
// The package never predicts the node of the replacement; package placement does. It never checks PodDisruptionBudgets
// (package budget) or limits (package planner).
package guard

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Rules lists every guard in the order of evaluation.
var Rules = []Rule{
	// The kind and the state of the pod.
	mirrorPod,
	staticPod,
	podTerminal,
	podTerminating,
	podNotBound,
	ownPod,
	daemonSetPod,
	barePod,
	// The annotations of the pod, its owners, its namespace and its node.
	evictNever,
	doNotDisrupt,
	requestUnreadable,
	preferNoEviction,
	evictionInProgress,
	// The configuration.
	partOfGroup,
	jobPod,
	unknownController,
	ownerNotFound,
	systemCritical,
	priorityTooHigh,
	localStorage,
	persistentVolume,
	protectedStorageClass,
	resourceClaims,
	gracePeriodTooLong,
	noPodDisruptionBudget,
	namespaceExcluded,
	podNotSelected,
	// The state of the node.
	virtualNode,
	nodeOutOfScope,
	nodeExcluded,
	nodeNotReady,
	nodeBeingDisrupted,
	nodeBeingDrained,
	blockedByPod,
	// The state of the workload.
	tooFewReplicas,
	podTooYoung,
	noReplacement,
	replicaFailure,
	failedCreateEvent,
	resourceQuota,
	admissionRefuses,
	foreignFinalizer,
	scalingDown,
	workloadPaused,
	rolloutInProgress,
	revisionWouldChange,
	jobWouldFail,
	workloadDegraded,
	replacementMissing,
	lastReadyPod,
	requiredByAffinity,
	// The scheduler and the time.
	schedulerNotResponding,
	outsideWindow,
}

// runningOnly lists the codes of the rules that do not protect a pod that has ended from its
// removal. They protect what such a pod no longer has, such as its work and its share of the
// replicas, or they are about the replacement that does not follow it. All other rules apply.
var runningOnly = []plan.Code{
	plan.PodTerminal, plan.JobPod, plan.GracePeriodTooLong, plan.NoPodDisruptionBudget, plan.TooFewReplicas, plan.PodTooYoung,
	plan.NoReplacement, plan.ReplacementRefused, plan.ScalingDown, plan.WorkloadPaused, plan.RolloutInProgress,
	plan.RevisionWouldChange, plan.JobWouldFail, plan.WorkloadDegraded, plan.ReplacementMissing, plan.LastReadyPod,
	plan.RequiredByAffinity, plan.SchedulerNotResponding,
}

// applies reports whether the rule judges the input.
func (r *Rule) applies(in Input) bool {
	return !in.RemovesEnded || !slices.Contains(runningOnly, r.Code)
}

// uncovered is Rules as a ruleSet.
var uncovered = newRuleSet(Rules)

// A ruleSet has, by the covered scopes, the rules with other scopes, in their order.
type ruleSet [1 << (lastScope + 1)][]placedRule

// placedRule is a rule with its place in the order of all rules.
type placedRule struct {
	*Rule
	at int
}

func newRuleSet(rules []Rule) *ruleSet {
	out := &ruleSet{}
	for covered := range out {
		for i := range rules {
			if !scopes(covered).has(rules[i].Scope) {
				out[covered] = append(out[covered], placedRule{&rules[i], i})
			}
		}
	}
	return out
}

// Check returns the reason of the first rule that refuses, and false if no rule refuses.
func Check(in Input) (plan.Reason, bool) { return check(uncovered, in) }

func check(rules *ruleSet, in Input) (plan.Reason, bool) {
	in = in.withAnnotations()
	covered := in.Cache.passed.coveredBy(in.Pod)
	if in.annotations.IsEmpty() {
		covered.add(RequestScope)
	}
	in.ownerPassed = covered.has(WorkloadScope)
	usual := !in.RemovesEnded && !in.ReplacesUnready // otherwise not every rule judges the pod as other pods
	known := templateRefusal{at: len(Rules)}
	if usual {
		if of := in.Cache.passed.refusalOf(in.Pod); of != nil {
			known = *of
			covered.add(WorkloadScope)
			covered.add(TemplateScope)
		}
	}
	for _, r := range rules[covered] {
		if r.at > known.at {
			break
		}
		if !r.applies(in) {
			continue
		}
		if msg, refused := r.Check(in); refused {
			reason := plan.Reason{Code: r.Code, Message: msg}
			if usual && (r.Scope == WorkloadScope || r.Scope == TemplateScope) {
				in.Cache.passed.addRefusal(in.Snapshot, in.Pod, templateRefusal{in.Pod.Template, r.at, reason})
			}
			return reason, true
		}
	}
	if known.template != nil {
		return known.reason, true
	}
	if usual {
		in.Cache.passed.add(in.Snapshot, in.Pod)
	}
	return plan.Reason{}, false
}

// CheckAll returns the results of the rules, in the order of Rules. Several rules may have the same code. For a pod
// without a node it stops at PodNotBound, because later rules read the node.
func CheckAll(in Input) []plan.RuleResult {
	in = in.withAnnotations()
	out := []plan.RuleResult{}
	for _, r := range Rules {
		msg, refused := r.Check(in)
		if !refused || !r.applies(in) {
			out = append(out, plan.RuleResult{Code: r.Code, Allows: true})
			continue
		}
		out = append(out, plan.RuleResult{Code: r.Code, Message: msg})
		if r.Code == plan.PodNotBound {
			break
		}
	}
	return out
}
