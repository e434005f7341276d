package ranking

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// HasPod reports whether a strategy may state a goal about the pod alone: the pod runs on a node in scope, it is in scope
// itself, and its replacement may run elsewhere.
func (n *Nodes) HasPod(p *cluster.Pod) bool {
	if p.Node == cluster.NoNode || p.Terminal || p.Terminating || !n.inScope[p.Node] {
		return false
	}
	if c := p.Controller; c != nil && (c.Kind == "DaemonSet" || c.Kind == "Node") {
		return false
	}
	_, mirror := p.Object.Annotations[corev1.MirrorPodAnnotationKey]
	return !mirror && n.scope.HasPod(n.snapshot, p)
}

// Goal returns a goal of the strategy: the pod leaves its node, for one of the targets. Nil targets mean every other node.
func Goal(strategy string, p *cluster.Pod, targets []bool, reason plan.Reason) plan.Goal {
	o := p.Object
	return plan.Goal{
		Strategy: strategy, Kind: plan.PodAway, Weight: 1, Pods: []cluster.PodID{p.ID}, Targets: targets, Reason: reason,
		Subject: plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)},
	}
}
