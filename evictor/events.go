package evictor

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Recorded writes an event about each pod that is evicted. The recorder sends
// them in the background and drops what it cannot send.
type Recorded struct{ Recorder events.EventRecorder }

// Evicted notes why the pod goes and where its replacement is expected.
func (r Recorded) Evicted(pod *corev1.Pod, m plan.Move) {
	r.Recorder.Eventf(pod, nil, corev1.EventTypeNormal, "EvictedForBalance", "Evict", "%s", note(m))
}

// maxNote is the API's limit on an event's note, in bytes.
const maxNote = 1024

func note(m plan.Move) string {
	s := fmt.Sprintf("strategy %s: %s (%s); its replacement is expected on %s", m.Strategy, m.Reason.Message, m.Reason.Code, m.To)
	return s[:min(len(s), maxNote)]
}
