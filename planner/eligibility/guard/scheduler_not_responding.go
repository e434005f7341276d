package guard

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The replacement would wait for a scheduler that is down or far behind. A pod
// that it has not looked at for long shows that it is.
var schedulerNotResponding = Rule{plan.SchedulerNotResponding, podScope, func(in Input) (string, bool) {
	if in.Options.SchedulerTimeout <= 0 {
		return "", false
	}
	name := in.Pod.Object.Spec.SchedulerName
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	id, waits := in.Snapshot.OldestUnattempted[name]
	if !waits {
		return "", false
	}
	o := in.Snapshot.Pods[id].Object
	waited := in.Now.Sub(o.CreationTimestamp.Time)
	return fmt.Sprintf("%s has not looked at pod %s/%s for %s, longer than guards.schedulerTimeout %s",
		name, o.Namespace, o.Name, waited.Round(time.Second), in.Options.SchedulerTimeout), waited > in.Options.SchedulerTimeout
}}
