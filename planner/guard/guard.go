// Package guard decides whether a pod may leave its node at all, whatever the
// reason for moving it: one rule per file, asked in the order of Rules, the
// first refusal counts.
//
// It never looks at where the replacement would land (package placement) and
// never counts budgets or limits (package planner). What it cannot know, it
// refuses.
package guard

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Input is all that a rule may look at.
type Input struct {
	Snapshot *cluster.Snapshot
	Pod      *cluster.Pod
	Now      time.Time
	Options  *Options
}

// Rule is one reason for which a pod stays. Check returns a sentence for
// people when the pod is refused.
type Rule struct {
	Code  plan.Code
	Check func(in Input) (message string, refused bool)
}

// Rules are all guards in the order in which they are asked: first what the pod
// is, then what the config says about it. A new guard is one file and one line.
var Rules = []Rule{
	mirrorPod,
	staticPod,
	podTerminal,
	podTerminating,
	podNotBound,
	daemonSetPod,
	barePod,
	jobPod,
	unknownController,
	ownerNotFound,
	systemCritical,
	priorityTooHigh,
	localStorage,
	namespaceExcluded,
	nodeOutOfScope,
	tooFewReplicas,
	podTooYoung,
}

// Check returns the first refusal, or false when the pod may leave.
func Check(in Input) (plan.Reason, bool) {
	for _, r := range Rules {
		if msg, refused := r.Check(in); refused {
			return plan.Reason{Code: r.Code, Message: msg}, true
		}
	}
	return plan.Reason{}, false
}
