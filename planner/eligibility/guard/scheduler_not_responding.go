package guard

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// schedulerTimeout is the time that a pod may wait for a first scheduling attempt before its scheduler counts as not
// responding.
const schedulerTimeout = time.Minute

// If a scheduler is down or overloaded, the replacement would stay Pending. The rule refuses if
// another pod has waited for a first scheduling attempt longer than schedulerTimeout.
//
// Pods that the scheduler has passed over do not count. An out-of-tree plugin may hold a pod back
// without a trace in the object, and the author of such a pod must not stop all evictions.
var schedulerNotResponding = Rule{plan.SchedulerNotResponding, TemplateScope, func(in Input) (string, bool) {
	name := schedulerOf(in.Pod.Object)
	id, found := in.longestWaiting(schedulerPriority{name, priorityOf(in.Pod.Object)})
	if !found {
		return "", false
	}
	o := in.Snapshot.Pods[id].Object
	waited := in.Now.Sub(o.CreationTimestamp.Time)
	return fmt.Sprintf("%s has not tried to schedule pod %s/%s for %s, longer than %s",
		name, o.Namespace, o.Name, waited.Round(time.Second), schedulerTimeout), waited > schedulerTimeout
}}

// schedulerPriority is a scheduler and the priority of a pod that waits for it.
type schedulerPriority struct {
	scheduler string
	priority  int32
}

func schedulerOf(p *corev1.Pod) string {
	return cmp.Or(p.Spec.SchedulerName, corev1.DefaultSchedulerName)
}

func priorityOf(p *corev1.Pod) int32 { return ptr.Deref(p.Spec.Priority, 0) }

// longestWaiting returns the oldest pod that the scheduler has neither tried nor passed over. It
// returns false if there is no such pod.
func (in Input) longestWaiting(of schedulerPriority) (cluster.PodID, bool) {
	const none = cluster.PodID(-1)
	oldest, known := in.Cache.waiting[of]
	if !known {
		oldest = none
		for _, id := range in.Snapshot.Unattempted[of.scheduler] {
			o := in.Snapshot.Pods[id].Object
			if !in.passedOver(of, o) && (oldest == none ||
				o.CreationTimestamp.Before(&in.Snapshot.Pods[oldest].Object.CreationTimestamp)) {
				oldest = id
			}
		}
		in.Cache.waiting[of] = oldest
	}
	return oldest, oldest != none
}

// passedOver reports whether the scheduler has tried a newer pod although the waiting pod came first
// in its queue. The queue is ordered by priority, then by age. If the waiting pod has a lower
// priority than the replacement, the replacement does not wait behind it. Then a tried pod that is
// not older than schedulerTimeout shows that the scheduler works.
func (in Input) passedOver(of schedulerPriority, waiting *corev1.Pod) bool {
	own := priorityOf(waiting)
	for priority, newest := range in.newestTried(of.scheduler) {
		recent := in.Now.Sub(newest) <= schedulerTimeout
		if newest.After(waiting.CreationTimestamp.Time) && (priority <= own || own < of.priority && recent) {
			return true
		}
	}
	return false
}

// newestTried returns, by priority, the creation time of the newest pod that the scheduler has tried
// to place.
func (in Input) newestTried(scheduler string) map[int32]time.Time {
	tried, known := in.Cache.tried[scheduler]
	if known {
		return tried
	}
	tried = map[int32]time.Time{}
	for i := range in.Snapshot.Pods {
		p := &in.Snapshot.Pods[i]
		created, priority := p.Object.CreationTimestamp, priorityOf(p.Object)
		if schedulerOf(p.Object) == scheduler && created.After(tried[priority]) && schedulerHasTried(p) {
			tried[priority] = created.Time
		}
	}
	in.Cache.tried[scheduler] = tried
	return tried
}

// schedulerHasTried reports whether a scheduler has certainly tried to place the pod. The API server
// sets the condition of a pod with a scheduling gate. The kubelet sets it on every pod that it runs,
// also on a pod that was created with spec.nodeName, such as one of kubectl debug node. Controllers
// create pods with spec.nodeName only if their template has it.
func schedulerHasTried(p *cluster.Pod) bool {
	for i := range p.Object.Status.Conditions {
		c := &p.Object.Status.Conditions[i]
		if c.Type != corev1.PodScheduled {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			t := PodTemplate(p)
			return t != nil && t.Spec.NodeName == ""
		}
		return c.Reason != corev1.PodReasonSchedulingGated
	}
	return false
}
