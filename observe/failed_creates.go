package observe

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
)

const (
	// eventsTimeout limits one read of the events. API servers have no cache of events, and scan all of them.
	eventsTimeout = 10 * time.Second
	// eventsReuse is how long an answer is used again, also a failed one. A pass takes several snapshots.
	eventsReuse = 30 * time.Second
	// maxEvents limits how many events one read keeps in memory. Later pages are not read.
	maxEvents = 10_000
)

// failedCreates holds the events by which controllers report that they could not create a pod. They are listed, not
// watched: a watch of events sends no bookmarks, so it could not be told from one that hangs.
type failedCreates struct {
	client client
	clock  clock.PassiveClock

	mu      sync.Mutex // held during a read, so that concurrent callers share its result
	readAt  time.Time  // the end of the last read; zero before the first
	events  map[types.UID]*corev1.Event
	problem string // why the last read failed, or ""
}

// read reads the events, unless they were read a moment ago. If a read fails, the earlier events remain: each counts
// for a limited time only.
func (f *failedCreates) read(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.readAt.IsZero() && f.clock.Since(f.readAt) < eventsReuse {
		return
	}
	limited, cancel := context.WithTimeout(ctx, eventsTimeout)
	defer cancel()
	events, complete, err := f.list(limited)
	if err != nil && ctx.Err() != nil {
		return // the caller gave up, and the next one reads again
	}
	f.readAt, f.problem = f.clock.Now(), ""
	switch {
	case err != nil:
		f.problem = err.Error()
		return
	case !complete:
		f.problem = fmt.Sprintf("there are more than %d events with the reason %s; the others are not read",
			maxEvents, cluster.FailedCreate)
	}
	f.events = events
}

// list returns the last event of each object, and whether every event was read.
func (f *failedCreates) list(ctx context.Context) (events map[types.UID]*corev1.Event, complete bool, err error) {
	selector := fields.OneTermEqualSelector("reason", cluster.FailedCreate).String()
	opts := metav1.ListOptions{Limit: 500, FieldSelector: selector}
	events = map[types.UID]*corev1.Event{}
	for n := 0; n < maxEvents; {
		page, err := f.client.CoreV1().Events(metav1.NamespaceAll).List(ctx, opts)
		if err != nil {
			return nil, false, plainAccessError("list", "events", err)
		}
		n += len(page.Items)
		for i := range page.Items {
			e := &page.Items[i]
			last := events[e.InvolvedObject.UID]
			if e.Reason == cluster.FailedCreate && (last == nil || cluster.LastObserved(e).After(cluster.LastObserved(last))) {
				events[e.InvolvedObject.UID] = cluster.EventFields(e)
			}
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return events, true, nil
		}
	}
	return events, false, nil
}

// addTo adds the events to the objects, and why they could not be read.
func (f *failedCreates) addTo(o *cluster.Objects) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		o.Add(e)
	}
	if f.problem != "" {
		o.MarkUnread(cluster.KindOf[*corev1.Event](), f.problem)
	}
}
