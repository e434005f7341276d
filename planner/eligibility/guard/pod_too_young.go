package guard

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The scheduler placed a young pod with recent data, and repeated moves would keep the pod from
// working. Without a valid start time the age is unknown, so the rule refuses.
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
