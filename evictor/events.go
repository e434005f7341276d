package evictor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/evenkeel-project/evenkeel/plan"
)

// EventRecorder writes events: about each pod that is evicted, about workloads that are
// given up, and about what holds evictions. The recorder sends them in the background
// and drops what it cannot send.
type EventRecorder struct {
	Recorder events.EventRecorder
	// Namespace is that of the Lease, which events are about that concern no pod.
	Namespace string
	// LookupUID finds the LookupUID of a workload, without which `kubectl describe` does not show
	// its events; nil: none is known.
	LookupUID func(kind, namespace, name string) types.UID
}

// Evicted notes why the pod goes and where its replacement is expected.
func (r EventRecorder) Evicted(pod *corev1.Pod, m plan.Move) {
	r.Recorder.Eventf(pod, nil, corev1.EventTypeNormal, "EvictedForBalance", "Evict", "%s", evictionNote(m))
}

func evictionNote(m plan.Move) string {
	return truncateNote(fmt.Sprintf("strategy %s: %s (%s); its replacement is expected on %s", m.Strategy, m.Reason.Message, m.Reason.Code, m.To))
}

// maxNoteBytes is the API's limit on an event's note, in bytes.
const maxNoteBytes = 1024

func truncateNote(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxNoteBytes)], "") // no half of a character
}

// BackedOff notes that the pods of a workload did not settle so often that it now
// rests for the longest time there is.
func (r EventRecorder) BackedOff(b plan.Backoff) {
	w := &corev1.ObjectReference{APIVersion: b.Workload.APIVersion, Kind: b.Workload.Kind, Namespace: b.Workload.Namespace, Name: b.Workload.Name}
	if r.LookupUID != nil {
		w.UID = r.LookupUID(w.Kind, w.Namespace, w.Name)
	}
	r.Recorder.Eventf(w, nil, corev1.EventTypeWarning, "BackedOff", "GiveUp", "%s", truncateNote(fmt.Sprintf(
		"after %d evictions in a row its replacements did not settle; none of its pods is evicted before %s; the last time: %s (%s)",
		b.Failures, b.Until.UTC().Format(time.RFC3339), b.Reason.Message, b.Reason.Code)))
}

// StateChanged notes what holds evictions now and did not before, and the reverse: pauses,
// the breaker, and strategies.
func (r EventRecorder) StateChanged(before, after plan.PlannerState) {
	switch was, is := before.Pause, after.Pause; {
	case is != nil && (was == nil || !samePause(*was, *is)):
		r.recordOnLease(corev1.EventTypeNormal, "Paused", "Pause", is.Block().Reason.Message)
	case was != nil && is == nil:
		r.recordOnLease(corev1.EventTypeNormal, "Resumed", "Resume", "evictions are no longer paused; they were by "+was.By)
	}
	switch was, is := before.Breaker, after.Breaker; {
	case is != nil && (was == nil || !was.At.Equal(is.At)):
		r.recordOnLease(corev1.EventTypeWarning, "BreakerOpen", "Stop", "no evictions before "+is.Until.UTC().Format(time.RFC3339)+", nor before all is well: "+is.Reason.Message)
	case was != nil && is == nil:
		r.recordOnLease(corev1.EventTypeNormal, "BreakerClosed", "GoOn", "evictions may be made again; what had tripped the breaker: "+was.Reason.Message)
	}
	for _, name := range slices.Sorted(maps.Keys(after.Benefits)) {
		b := after.Benefits[name]
		if !b.SuspendedUntil.IsZero() && !b.SuspendedUntil.Equal(before.Benefits[name].SuspendedUntil) {
			r.recordOnLease(corev1.EventTypeWarning, "StrategyIneffective", "Hold", fmt.Sprintf("strategy %s is held until %s: its evictions brought %.4g of the excess that they were foretold to remove, %.4g",
				name, b.SuspendedUntil.UTC().Format(time.RFC3339), b.Realised, b.Predicted))
		}
	}
}

func samePause(a, b plan.Pause) bool {
	return a.Since.Equal(b.Since) && a.Until.Equal(b.Until) && a.By == b.By && a.Reason == b.Reason
}

// leaseName is where people look who ask what Evenkeel does.
const leaseName = "evenkeel"

func (r EventRecorder) recordOnLease(kind, reason, action, text string) {
	lease := &corev1.ObjectReference{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: r.Namespace, Name: leaseName}
	r.Recorder.Eventf(lease, nil, kind, reason, action, "%s", truncateNote(text))
}
