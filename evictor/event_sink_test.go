package evictor

import (
	"context"
	"errors"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// failingSink answers every request with an error.
type failingSink struct{ err error }

func (s failingSink) Create(context.Context, *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, s.err
}

func (s failingSink) Update(context.Context, *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, s.err
}

func (s failingSink) Patch(context.Context, *eventsv1.Event, []byte) (*eventsv1.Event, error) {
	return nil, s.err
}

// TestMissingPermissionForEvents checks that a missing permission is told once for each verb, and nothing else is.
func TestMissingPermissionForEvents(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "", errors.New("no"))
	for _, c := range []struct {
		err  error
		want []string
	}{
		{forbidden, []string{"no Events are written: permission to create events.events.k8s.io is missing",
			"repeated Events are not counted: permission to patch events.events.k8s.io is missing"}},
		{errors.New("a timeout"), nil},
		{nil, nil},
	} {
		var told []string
		sink := EventSink{EventSink: failingSink{c.err}, Denied: func(effect string, err error) { told = append(told, effect+": "+err.Error()) }}
		for range 2 {
			_, created := sink.Create(t.Context(), nil)
			_, patched := sink.Patch(t.Context(), nil, nil)
			if !errors.Is(created, c.err) || !errors.Is(patched, c.err) {
				t.Errorf("the sink returns %v and %v, want %v", created, patched, c.err)
			}
		}
		if len(told) != len(c.want) {
			t.Fatalf("%v: told %v, want %v", c.err, told, c.want)
		}
		for i, want := range c.want {
			if !strings.Contains(told[i], want) {
				t.Errorf("told %q, want %q", told[i], want)
			}
		}
	}
}
