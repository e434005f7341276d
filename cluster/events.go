package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FailedCreate is the reason of the events by which controllers report that they could not create a pod.
const FailedCreate = "FailedCreate"

// EventFields returns a copy of an event with the fields that decisions read. The message of an event may contain
// anything, so it is dropped.
func EventFields(e *corev1.Event) *corev1.Event {
	meta := metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name, UID: e.UID, CreationTimestamp: e.CreationTimestamp}
	return &corev1.Event{TypeMeta: e.TypeMeta, ObjectMeta: meta, InvolvedObject: e.InvolvedObject, Reason: e.Reason,
		LastTimestamp: e.LastTimestamp, EventTime: e.EventTime, Series: e.Series}
}

// LastObserved returns when the event happened last, with a precision of one second. The controllers of Kubernetes set
// LastTimestamp; other programs may set EventTime and Series.
func LastObserved(e *corev1.Event) time.Time {
	last := e.CreationTimestamp.Time
	for _, t := range [...]time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(last) {
			last = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last.Truncate(time.Second)
}
