// Package podfilter decides which pods match criteria about their owners, age, restarts, states, conditions and exit
// codes. If the status of a pod lacks the data for a criterion, the pod does not match.
//
// The package never decides whether a pod may leave its node, and it reads no clock.
package podfilter

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// InScope reports whether a strategy may state a goal about the pod. The pod must be in scope, on a node in scope, and
// not terminating. It must not belong to its node, as pods of a DaemonSet and static pods do.
func InScope(s *cluster.Snapshot, scope cluster.Scope, p *cluster.Pod) bool {
	return p.Node != cluster.NoNode && !p.Terminating && !p.BelongsToNode() &&
		scope.HasNode(&s.Nodes[p.Node]) && scope.HasPod(s, p)
}

// WhyOutOfScope says why InScope is false for a pod. It returns "" if InScope is true.
func WhyOutOfScope(s *cluster.Snapshot, scope cluster.Scope, p *cluster.Pod) string {
	switch {
	case InScope(s, scope, p):
		return ""
	case p.BelongsToNode():
		return "the pod belongs to its node: it is a static pod, or its controller runs one pod on each node"
	case p.Node == cluster.NoNode:
		return "the pod is on no known node"
	case p.Terminating:
		return "the pod is terminating"
	}
	return "the pod or its node is out of the scope of the strategy"
}

// Goal returns a goal of the strategy: the pod leaves, and its replacement may run on the same node.
func Goal(strategy string, p *cluster.Pod, reason plan.Reason) plan.Goal {
	o := p.Object
	return plan.Goal{
		Strategy: strategy, Kind: plan.PodAway,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)},
		Weight:  1, Pods: []cluster.PodID{p.ID}, MayReturn: true, Reason: reason,
	}
}

// Age returns the time since the pod was created. It returns false if that time is missing or in the future.
func Age(p *cluster.Pod, now time.Time) (time.Duration, bool) {
	return since(p.Object.CreationTimestamp.Time, now)
}

// SinceFailure returns the time since a failed pod ended: since the last end of a container or the last change of a
// condition in its status. A pod without containers in its status never ran, so without such a change its creation
// counts. SinceFailure returns false if the time is missing or in the future.
func SinceFailure(p *cluster.Pod, now time.Time) (time.Duration, bool) {
	var ended time.Time
	later := func(t time.Time) {
		if t.After(ended) {
			ended = t
		}
	}
	lists := Containers{Init: true, Ephemeral: true}.lists(p.Object)
	for _, list := range lists {
		for i := range list {
			if t := list[i].State.Terminated; t != nil {
				later(t.FinishedAt.Time)
			}
		}
	}
	for i := range p.Object.Status.Conditions {
		if c := &p.Object.Status.Conditions[i]; !cluster.IsStartupCondition(c) {
			later(c.LastTransitionTime.Time)
		}
	}
	if ended.IsZero() && len(lists[0])+len(lists[initList]) == 0 {
		return Age(p, now)
	}
	return since(ended, now)
}

func since(t, now time.Time) (time.Duration, bool) {
	if t.IsZero() || t.After(now) {
		return 0, false
	}
	return now.Sub(t), true
}

// Older orders pods by their creation, the oldest first.
func Older(a, b *cluster.Pod) int {
	return a.Object.CreationTimestamp.Compare(b.Object.CreationTimestamp.Time)
}

// OwnerKinds selects pods by the kinds of their owners. At most one list may have elements. Pods without an owner match
// only Exclude.
type OwnerKinds struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

// Match reports whether the lists select the pod. The kinds of a pod are those of its owner references and of its
// workload, such as ReplicaSet and Deployment.
func (k OwnerKinds) Match(s *cluster.Snapshot, p *cluster.Pod) bool {
	owned := func(kinds []string) bool {
		if w := s.WorkloadOf(p); w != nil && slices.Contains(kinds, w.Kind) {
			return true
		}
		for i := range p.Object.OwnerReferences {
			if slices.Contains(kinds, p.Object.OwnerReferences[i].Kind) {
				return true
			}
		}
		return false
	}
	return (len(k.Include) == 0 || owned(k.Include)) && (len(k.Exclude) == 0 || !owned(k.Exclude))
}
