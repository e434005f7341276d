package guard

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A mirror pod is the API object of a static pod. An eviction deletes only the mirror pod, and the
// kubelet continues to run the static pod.
var mirrorPod = Rule{plan.MirrorPod, OddPodScope, func(in Input) (string, bool) {
	return "the pod is a mirror pod and cannot move: the kubelet of its node runs it", in.Pod.IsMirror()
}}

// The kubelet reads a static pod from a file or a URL, never from the API.
var staticPod = Rule{plan.StaticPod, OddPodScope, func(in Input) (string, bool) {
	return "the pod is a static pod and cannot move: the kubelet of its node created it", in.Pod.IsStatic()
}}

// The chart sets this label on every pod of Evenkeel.
const (
	ownLabel = "app.kubernetes.io/name"
	ownName  = "evenkeel"
)

// An eviction of its own pod would keep Evenkeel from finishing the pass.
var ownPod = Rule{plan.OwnPod, TemplateScope, func(in Input) (string, bool) {
	return "the pod belongs to Evenkeel", in.Pod.Object.Labels[ownLabel] == ownName
}}

// The DaemonSet controller, and controllers like it, create the replacement on the same node. The kind contains every
// pod that is bound to one node by its required affinity or by the annotation of the cluster-autoscaler, such as those
// of OpenKruise's DaemonSet and of ExtendedDaemonSet.
var daemonSetPod = Rule{plan.DaemonSetPod, OddPodScope, func(in Input) (string, bool) {
	switch c := in.Pod.Controller; {
	case !in.Pod.BelongsToNode():
		return "", false
	case c == nil:
		return "the pod is bound to its node, and its replacement would be too", true
	default:
		return fmt.Sprintf("the %s controller would replace the pod on the same node", c.Kind), true
	}
}}

// A pod without a controller has no replacement: its eviction deletes it. If it has failed, nothing is lost but its
// status and its logs, so it has a protection of its own.
var barePod = Rule{plan.BarePod, OddPodScope, func(in Input) (string, bool) {
	protection := ProtectBarePods
	if in.Pod.Object.Status.Phase == corev1.PodFailed {
		protection = ProtectFailedBarePods
	}
	return "no controller would replace the pod", in.Pod.Controller == nil && in.Options.Protect[protection]
}}

// A pod that has ended uses no resources, and the Eviction API deletes it without checking its
// PodDisruptionBudget. It is removed only if a goal asks for it.
var podTerminal = Rule{plan.PodTerminal, PodScope, func(in Input) (string, bool) {
	if !in.Pod.Terminal || in.RemovesEnded {
		return "", false
	}
	return fmt.Sprintf("the pod has ended (%s)", in.Pod.Object.Status.Phase), true
}}

// The controller of a terminating pod is already replacing it.
var podTerminating = Rule{plan.PodTerminating, PodScope, func(in Input) (string, bool) {
	return "the pod is already terminating", in.Pod.Terminating
}}

// An unbound pod uses no node. The Eviction API ignores PodDisruptionBudgets for pending pods.
var podNotBound = Rule{plan.PodNotBound, PodScope, func(in Input) (string, bool) {
	return "the pod is not bound to a known node", in.Pod.Node == cluster.NoNode
}}

// The scheduler placed a young pod with recent data, and repeated moves would interrupt its work.
// If the start time is missing, zero or in the future, the age is unknown and the rule refuses.
var podTooYoung = Rule{plan.PodTooYoung, PodScope, func(in Input) (string, bool) {
	if in.Options.MinPodAge <= 0 {
		return "", false
	}
	start, known := in.Pod.Started()
	if !known {
		return "the pod has no start time, so its age is unknown", true
	}
	age := in.Now.Sub(start)
	if age < 0 {
		return fmt.Sprintf("the pod's start time %s is in the future, so its age is unknown", start.UTC().Format(time.RFC3339)), true
	}
	if age >= in.Options.MinPodAge {
		return "", false
	}
	return fmt.Sprintf("the pod started %s ago, less than guards.minPodAge %s", age.Round(time.Second), in.Options.MinPodAge), true
}}
