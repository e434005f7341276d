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
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Input is all that a rule may look at.
type Input struct {
	Snapshot *cluster.Snapshot
	Pod      *cluster.Pod
	Now      time.Time
	Options  *Options
	// Cache is shared by inputs of the same snapshot, options and time; nil is fine.
	Cache *Cache

	requests *annotation.Pod // read once; see asked
}

// asked is what people ask for the pod.
func (in Input) asked() annotation.Pod {
	if in.requests != nil {
		return *in.requests
	}
	return in.known().OfPod(in.Snapshot, in.Pod, in.Options.TimeZone)
}

// node is what people ask for the pod's node.
func (in Input) node() *annotation.Node { return in.known().OfNode(in.Snapshot, in.Pod.Node) }

func (in Input) known() *annotation.Cache {
	if in.Cache == nil {
		return nil
	}
	return in.Cache.Annotations
}

// read prepares what several rules look at.
func (in Input) read() Input {
	r := in.asked()
	in.requests = &r
	return in
}

// Rule is one reason for which a pod stays. Check returns a sentence for
// people when the pod is refused.
type Rule struct {
	Code  plan.Code
	Check func(in Input) (message string, refused bool)
}

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
	for i, r := range Rules {
		if passed&looksAt[i] != 0 {
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
