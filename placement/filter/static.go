package filter

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// CanRunFunc is CanRun of one pod, to be asked of many nodes: the pod's affinity is
// read once.
func CanRunFunc(pod *corev1.Pod) func(*cluster.Node) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(n *cluster.Node) bool {
		return n.Ready && ToleratesTaints(pod, n.Object) && isSchedulable(pod, n.Object) && MatchesNodeAffinity(affinity, n.Object)
	}
}

var unschedulableTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// CanRun reports whether the filters that depend neither on other pods nor on
// free resources let a replacement of the pod onto the node: readiness,
// unschedulable, node selector and affinity, NoSchedule and NoExecute taints.
// The pod's own nodeName is left out: a replacement has none.
func CanRun(pod *corev1.Pod, n *cluster.Node) bool {
	return CanRunFunc(pod)(n)
}

func isSchedulable(pod *corev1.Pod, n *corev1.Node) bool {
	return !n.Spec.Unschedulable || schedulinghelper.TolerationsTolerateTaint(
		logr.Discard(), pod.Spec.Tolerations, &unschedulableTaint, scheduler.ComparisonOperators)
}

func ToleratesTaints(pod *corev1.Pod, n *corev1.Node) bool {
	_, refused := schedulinghelper.FindMatchingUntoleratedTaint(
		logr.Discard(), n.Spec.Taints, pod.Spec.Tolerations, isHardTaint, scheduler.ComparisonOperators)
	return !refused
}

func isHardTaint(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// MatchesNodeAffinity takes an affinity that cannot be read as one that does not match.
func MatchesNodeAffinity(a nodeaffinity.RequiredNodeAffinity, n *corev1.Node) bool {
	ok, _ := a.Match(n)
	return ok
}

// refusedByNodeChecks returns the first of the filters that depend on the node alone
// which refuses it.
func refusedByNodeChecks(w *model.Cluster, in *cycle.Replacement, n int) scheduler.Filter {
	if in.CanRun[n] {
		return ""
	}
	return RefusedBySpec(w, in.Class.Sample.Object, in.Profile, n, in.AffinityOK[n], in.TaintsOK[n])
}

// RefusedBySpec is the same for a pod spec, by what its view says of the node.
func RefusedBySpec(w *model.Cluster, pod *corev1.Pod, p *scheduler.Compiled, n int, affinityOK, taintsOK bool) scheduler.Filter {
	switch node := &w.Snap.Nodes[n]; {
	case !node.Ready && !toleratesNotReady(pod):
		return scheduler.NodeNotReady
	case !p.Disabled[scheduler.NodeUnschedulable] && !isSchedulable(pod, node.Object):
		return scheduler.NodeUnschedulable
	case !p.Disabled[scheduler.TaintToleration] && !taintsOK:
		return scheduler.TaintToleration
	case !p.Disabled[scheduler.NodeAffinity] && (!affinityOK || p.AddedRequired != nil && !p.AddedRequired.Match(w.NodeObject(n))):
		return scheduler.NodeAffinity
	}
	return ""
}

// toleratesNotReady: the scheduler knows a node that is not Ready by its taint
// only, which the node controller sets soon.
func toleratesNotReady(pod *corev1.Pod) bool {
	return schedulinghelper.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, true)
}
