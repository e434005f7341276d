package evictor

import (
	"context"
	"fmt"
	"sync"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
)

// EventSink writes Events, and tells once for each verb that the permission to write them is missing. Without it, the
// Events of the account would be missing without a trace.
type EventSink struct {
	events.EventSink
	// Denied is told what happens without the missing permission, and which one it is, from any goroutine.
	Denied func(effect string, err error)

	create, patch sync.Once
}

// Create writes a new Event.
func (s *EventSink) Create(ctx context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	out, err := s.EventSink.Create(ctx, e)
	s.check(&s.create, "create", "no Events are written", err)
	return out, err
}

// Patch adds to the series of an Event.
func (s *EventSink) Patch(ctx context.Context, e *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	out, err := s.EventSink.Patch(ctx, e, data)
	s.check(&s.patch, "patch", "repeated Events are not counted", err)
	return out, err
}

func (s *EventSink) check(once *sync.Once, verb, effect string, err error) {
	if apierrors.IsForbidden(err) {
		once.Do(func() {
			s.Denied(effect, fmt.Errorf("permission to %s events.events.k8s.io is missing; grant it to this account: %w", verb, err))
		})
	}
}
