package guard

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A young pod has just been placed with today's knowledge, and moving it again
// and again would keep it from ever working. Without a start time its age is
// not known.
var podTooYoung = Rule{plan.PodTooYoung, podScope, func(in Input) (string, bool) {
	if in.Options.MinPodAge <= 0 {
		return "", false
	}
	start := in.Pod.Object.Status.StartTime
	if start == nil {
		return "the pod has no start time, so its age is not known", true
	}
	age := in.Now.Sub(start.Time)
	if age < 0 {
		return fmt.Sprintf("the pod started at %s, which is still to come: its age is not known", start.UTC().Format(time.RFC3339)), true
	}
	if age >= in.Options.MinPodAge {
		return "", false
	}
	return fmt.Sprintf("the pod started %s ago, less than guards.minPodAge %s", age.Round(time.Second), in.Options.MinPodAge), true
}}
