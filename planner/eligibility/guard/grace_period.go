package guard

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A pass waits until each evicted pod has terminated. Pod authors choose the grace period, so without a limit one pod
// could stop the pass for days.
var gracePeriodTooLong = Rule{plan.GracePeriodTooLong, TemplateScope, func(in Input) (string, bool) {
	most := in.Options.MaxGracePeriod
	if most <= 0 {
		return "", false
	}
	own := ptr.Deref(in.Pod.Object.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	grace := secondsToDuration(ptr.Deref(in.Options.GracePeriodSeconds, own))
	if grace <= most {
		return "", false
	}
	return fmt.Sprintf("the pod may take %s to terminate, longer than guards.maxGracePeriod %s", grace, most), true
}}

// secondsToDuration converts seconds to a duration. A number out of range becomes the longest duration.
func secondsToDuration(seconds int64) time.Duration {
	return time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second
}
