package conformance

import (
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulingv1 "k8s.io/component-helpers/scheduling/corev1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// trait is a known difference between the descheduler and Evenkeel.
// docs/reference/descheduler-differences.md has a paragraph for each.
type trait struct {
	name string
	// keeps reports whether the trait is the cause why Evenkeel keeps a pod that the descheduler
	// evicts.
	keeps func(c *recordedCase, r *run, pod string) bool
	// moves reports whether the trait is the cause why Evenkeel evicts a pod that the descheduler
	// keeps.
	moves func(c *recordedCase, r *run, pod string) bool
}

// traits lists all traits. The first one that holds for a pod counts.
var traits = []trait{
	{name: "InvalidPolicy", keeps: func(c *recordedCase, r *run, _ string) bool {
		return r.policyError != "" && slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, "own policy validation refuses") })
	}},
	{name: "HealthyPodsMatch", keeps: func(_ *recordedCase, r *run, _ string) bool {
		return strings.Contains(r.policyError, "every healthy pod")
	}},
	{name: "PodsOfNodesStay", keeps: func(_ *recordedCase, r *run, pod string) bool {
		p := r.objects.pod(pod)
		_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
		return mirror || slices.ContainsFunc(p.OwnerReferences, isDaemonSet)
	}},
	{name: "EvictAnnotation", keeps: func(_ *recordedCase, r *run, pod string) bool {
		_, asked := r.objects.pod(pod).Annotations["descheduler.alpha.kubernetes.io/evict"]
		return asked && r.staysFor(pod, plan.SystemCritical, plan.PriorityTooHigh, plan.LocalStorage, plan.BarePod, plan.PersistentVolume)
	}},
	{name: "WholeNodes", keeps: func(c *recordedCase, r *run, pod string) bool {
		return c.Plugin.Name == "HighNodeUtilization" && r.staysFor(pod, plan.NodeNotEmptied)
	}},
	{name: "CordonedNodes", keeps: func(c *recordedCase, r *run, pod string) bool {
		n := r.objects.node(r.objects.pod(pod).Spec.NodeName)
		return c.Plugin.Name == "HighNodeUtilization" && n != nil && n.Spec.Unschedulable && len(r.rejected[pod]) == 0
	}},
	{name: "MeansOfTargets", keeps: func(c *recordedCase, r *run, pod string) bool {
		return c.Plugin.Name == "LowNodeUtilization" && c.Plugin.Args["useDeviationThresholds"] == true && len(r.rejected[pod]) == 0 &&
			slices.ContainsFunc(r.objects.Nodes, func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	}},
	{name: "PredictedLanding", keeps: func(c *recordedCase, r *run, pod string) bool {
		return balances(c.Plugin.Name) && r.staysFor(pod, plan.WouldReturn, plan.NoTargetFits, plan.UncertainLanding)
	}},
	{name: "BetterNode", keeps: hasNoBetterNode},
	{name: "EndedPods", moves: func(c *recordedCase, r *run, pod string) bool {
		return c.Plugin.Name == "RemoveFailedPods" && c.Evictor["nodeFit"] == true && r.removed[pod] &&
			r.objects.pod(pod).Status.Phase == corev1.PodFailed
	}},
}

// staysFor reports whether each reason why the pod stays has one of the codes.
func (r *run) staysFor(pod string, codes ...plan.Code) bool {
	for _, reason := range r.rejected[pod] {
		if !slices.Contains(codes, reason.Code) {
			return false
		}
	}
	return len(r.rejected[pod]) > 0
}

// hasNoBetterNode reports whether only taints of the effect PreferNoSchedule count for the pod, and
// no other node has fewer of them. Evenkeel evicts such a pod only for a better node.
func hasNoBetterNode(c *recordedCase, r *run, pod string) bool {
	p := r.objects.pod(pod)
	if c.Plugin.Name != "RemovePodsViolatingNodeTaints" || c.Plugin.Args["includePreferNoSchedule"] != true || len(r.rejected[pod]) > 0 {
		return false
	}
	here := r.objects.node(p.Spec.NodeName)
	if untolerated(p, here, corev1.TaintEffectNoSchedule) > 0 || untolerated(p, here, corev1.TaintEffectPreferNoSchedule) == 0 {
		return false
	}
	for _, n := range r.objects.Nodes {
		if untolerated(p, n, corev1.TaintEffectPreferNoSchedule) < untolerated(p, here, corev1.TaintEffectPreferNoSchedule) {
			return false
		}
	}
	return true
}

// untolerated counts the taints with the effect that the pod does not tolerate.
func untolerated(p *corev1.Pod, n *corev1.Node, effect corev1.TaintEffect) int {
	count := 0
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if t.Effect == effect && !schedulingv1.TolerationsTolerateTaint(logr.Discard(), p.Spec.Tolerations, t, true) {
			count++
		}
	}
	return count
}

func isDaemonSet(ref metav1.OwnerReference) bool { return ref.Kind == "DaemonSet" }
