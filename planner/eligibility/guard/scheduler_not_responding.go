package guard

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If a scheduler is down or overloaded, the replacement would stay Pending. The rule refuses if
// another pod has waited for a first scheduling attempt longer than guards.schedulerTimeout.
var schedulerNotResponding = Rule{plan.SchedulerNotResponding, PlanScope, func(in Input) (string, bool) {
	if in.Options.SchedulerTimeout <= 0 {
		return "", false
	}
	name := cmp.Or(in.Pod.Object.Spec.SchedulerName, corev1.DefaultSchedulerName)
	id, found := in.Snapshot.OldestUnattempted[name]
	if !found {
		return "", false
	}
	o := in.Snapshot.Pods[id].Object
	waited := in.Now.Sub(o.CreationTimestamp.Time)
	return fmt.Sprintf("%s has not tried to schedule pod %s/%s for %s, longer than guards.schedulerTimeout %s",
		name, o.Namespace, o.Name, waited.Round(time.Second), in.Options.SchedulerTimeout), waited > in.Options.SchedulerTimeout
}}
