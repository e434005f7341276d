package filter

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// CanRunFunc returns a function that reports whether a replacement of the pod passes the filters
// that depend neither on other pods nor on free resources: readiness, cordon, node selector, node
// affinity, and NoSchedule and NoExecute taints. The function ignores the pod's nodeName, because a
// replacement has none.
func CanRunFunc(pod *corev1.Pod) func(*cluster.Node) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(n *cluster.Node) bool {
		return n.Ready && ToleratesTaints(pod, n.Object) && isSchedulable(pod, n.Object) && MatchesNodeAffinity(affinity, n.Object)
	}
}

var unschedulableTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// isSchedulable reports whether the node is not cordoned, or the pod tolerates the cordon.
func isSchedulable(pod *corev1.Pod, n *corev1.Node) bool {
	return !n.Spec.Unschedulable || ToleratesTaint(pod, &unschedulableTaint)
}

// ToleratesTaint reports whether the pod tolerates the taint.
func ToleratesTaint(pod *corev1.Pod, t *corev1.Taint) bool {
	return schedulinghelper.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, t, scheduler.ComparisonOperators)
}

// ToleratesTaints reports whether the pod tolerates the node's NoSchedule and NoExecute taints.
func ToleratesTaints(pod *corev1.Pod, n *corev1.Node) bool {
	_, refused := schedulinghelper.FindMatchingUntoleratedTaint(
		logr.Discard(), n.Spec.Taints, pod.Spec.Tolerations, isSchedulingTaint, scheduler.ComparisonOperators)
	return !refused
}

// isSchedulingTaint reports whether the scheduler refuses the node to pods that do not tolerate the
// taint.
func isSchedulingTaint(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// MatchesNodeAffinity reports whether the node matches the affinity. An invalid affinity matches no
// node.
func MatchesNodeAffinity(a nodeaffinity.RequiredNodeAffinity, n *corev1.Node) bool {
	ok, _ := a.Match(n)
	return ok
}

// RefusedBySpec returns the first filter that refuses the node to a pod spec because of the node's
// readiness, cordon, taints and labels; empty if the node passes. The caller has matched the pod's
// node affinity and tolerations.
func RefusedBySpec(m *model.Cluster, pod *corev1.Pod, p *scheduler.Compiled, n int, affinityOK, taintsOK bool) scheduler.Filter {
	switch node := &m.Snap.Nodes[n]; {
	case !node.Ready && !toleratesNotReady(pod):
		return scheduler.NodeNotReady
	case !p.Disabled[scheduler.NodeUnschedulable] && !isSchedulable(pod, node.Object):
		return scheduler.NodeUnschedulable
	case !p.Disabled[scheduler.TaintToleration] && !taintsOK:
		return scheduler.TaintToleration
	case !p.Disabled[scheduler.NodeAffinity] && (!affinityOK || p.AddedRequired != nil && !p.AddedRequired.Match(m.NodeObject(n))):
		return scheduler.NodeAffinity
	}
	return ""
}

// toleratesNotReady reports whether the pod tolerates the NotReady taint. The scheduler reads only
// this taint, which the node controller sets soon after a node stops being ready.
func toleratesNotReady(pod *corev1.Pod) bool {
	return schedulinghelper.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations,
		&corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, true)
}
