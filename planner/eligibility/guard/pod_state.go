package guard

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A pod that has ended uses no resources, and the Eviction API deletes it without checking its PodDisruptionBudget.
var podTerminal = Rule{plan.PodTerminal, PodScope, func(in Input) (string, bool) {
	return fmt.Sprintf("the pod has ended (%s)", in.Pod.Object.Status.Phase), in.Pod.Terminal
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
// If the start time is missing or invalid, the age is unknown and the rule refuses.
var podTooYoung = Rule{plan.PodTooYoung, PodScope, func(in Input) (string, bool) {
	if in.Options.MinPodAge <= 0 {
		return "", false
	}
	start := in.Pod.Object.Status.StartTime
	if start == nil {
		return "the pod has no start time, so its age is unknown", true
	}
	age := in.Now.Sub(start.Time)
	if age < 0 {
		return fmt.Sprintf("the pod's start time %s is in the future, so its age is unknown", start.UTC().Format(time.RFC3339)), true
	}
	if age >= in.Options.MinPodAge {
		return "", false
	}
	return fmt.Sprintf("the pod started %s ago, less than guards.minPodAge %s", age.Round(time.Second), in.Options.MinPodAge), true
}}
