// Package guard decides whether a pod may leave its node at all, whatever the
// reason for moving it: one rule per file, asked in the order of Rules, the
// first refusal counts.
//
// It never looks at where the replacement would land (package placement) and
// never counts budgets or limits (package planner). What it cannot know, it
// refuses.
package guard

import (
	"github.com/evenkeel-project/evenkeel/plan"
)

// Rules are all guards in the order in which they are asked: what the pod is,
// what people ask for, what the config says, how its node and its workload are.
// A new guard is one file and one line.
var Rules = []Rule{
	mirrorPod,
	staticPod,
	podTerminal,
	podTerminating,
	podNotBound,
	ownPod,
	daemonSetPod,
	barePod,
	evictNever,
	doNotDisrupt,
	requestUnreadable,
	preferNoEviction,
	evictionInProgress,
	jobPod,
	unknownController,
	ownerNotFound,
	systemCritical,
	priorityTooHigh,
	localStorage,
	persistentVolume,
	protectedStorageClass,
	resourceClaims,
	noPodDisruptionBudget,
	namespaceExcluded,
	podNotSelected,
	nodeOutOfScope,
	nodeExcluded,
	nodeNotReady,
	nodeBeingDisrupted,
	tooFewReplicas,
	podTooYoung,
	noReplacement,
	scalingDown,
	rolloutInProgress,
	revisionWouldChange,
	jobWouldFail,
	workloadDegraded,
	lastReadyPod,
	requiredByAffinity,
	schedulerNotResponding,
	outsideWindow,
}

// Check returns the first refusal, or false when the pod may leave.
func Check(in Input) (plan.Reason, bool) {
	in = in.read()
	passed := in.passed()
	for _, r := range Rules {
		if passed&r.Scope != 0 {
			continue
		}
		if msg, refused := r.Check(in); refused {
			return plan.Reason{Code: r.Code, Message: msg}, true
		}
	}
	in.pass()
	return plan.Reason{}, false
}

// All returns every refusal, in the order of Rules. Rules that look at the node
// are not asked about a pod without one.
func All(in Input) []plan.Reason {
	in = in.read()
	var out []plan.Reason
	for _, r := range Rules {
		msg, refused := r.Check(in)
		if refused {
			out = append(out, plan.Reason{Code: r.Code, Message: msg})
		}
		if refused && r.Code == plan.PodNotBound {
			break
		}
	}
	return out
}
