package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Objects returns the last known state of all objects, with the current time, the server version
// and the measured usage. It reads the events FailedCreate from the API server, unless an answer is
// less than 30 s old. If objects cannot be read, Unread says why.
func (o *Observer) Objects(ctx context.Context) *cluster.Objects {
	o.events.read(ctx)
	out := o.objectsWithoutEvents()
	o.events.addTo(out)
	return out
}

func (o *Observer) objectsWithoutEvents() *cluster.Objects {
	usage := o.currentUsage()
	out := &cluster.Objects{TakenAt: o.clock.Now().UTC(), Usage: usage}
	for _, w := range o.watched {
		if err := w.unreadError(o.permissionError(w.kind)); err != nil {
			out.MarkUnread(w.name, err.Error())
			continue
		}
		out.Listed = append(out.Listed, w.name)
		for _, x := range w.informer.GetStore().List() {
			out.Add(x)
		}
	}
	out.ServerVersion = o.version.last()
	o.mu.Lock()
	defer o.mu.Unlock()
	out.ClusterUID = o.uid
	return out
}

// unreadError returns why the objects of an optional kind are unknown, or nil if they are known. For other kinds,
// Snapshot returns an error.
func (w watchedKind) unreadError(denied error) error {
	stale := w.staleError()
	switch {
	case !w.optional:
		return nil
	case denied != nil:
		return denied
	case stale != nil:
		return stale
	case !w.synced():
		return errors.New("they have not been listed yet")
	}
	return nil
}

// Snapshot indexes the last known state of all objects. It returns an error if a permission is
// missing, because the view is then incomplete. It returns *StaleError if the view of a kind is older
// than MaxStaleness.
func (o *Observer) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	if err := o.version.refresh(ctx); err != nil {
		return nil, err
	}
	o.events.read(ctx) // before the checks, because it may take a while
	return o.indexed(func() *cluster.Objects { return o.Objects(ctx) })
}

// SnapshotWithoutEvents returns the same as Snapshot, but without events and without any request to the API server.
func (o *Observer) SnapshotWithoutEvents() (*cluster.Snapshot, error) {
	return o.indexed(o.objectsWithoutEvents)
}

func (o *Observer) indexed(objects func() *cluster.Objects) (*cluster.Snapshot, error) {
	if err := o.permissionError(requiredKinds...); err != nil {
		return nil, err
	}
	if err := o.stalenessError(); err != nil {
		return nil, err
	}
	list := objects()
	o.indexing.Lock()
	defer o.indexing.Unlock()
	s, err := o.index.New(list)
	if err != nil {
		return nil, fmt.Errorf("indexing the cluster: %w", err)
	}
	return s, nil
}

// SetUsageSource sets the function that returns the measured usage for snapshots. Nil means no usage.
func (o *Observer) SetUsageSource(usage func() *cluster.Usage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.usage = usage
}

// currentUsage returns the measured usage, or nil. Callers read the objects afterwards, so the objects
// include all pods that arrived after the measurement.
func (o *Observer) currentUsage() *cluster.Usage {
	o.mu.Lock()
	usage := o.usage
	o.mu.Unlock()
	if usage == nil {
		return nil
	}
	return usage()
}

// ViewAge returns the age of the oldest view of a kind of o that is not optional, or false before the first complete
// list of each of them.
func ViewAge(o *Observer) (oldest time.Duration, known bool) {
	for _, w := range o.watched {
		if w.optional {
			continue
		}
		until := w.staleness.lastKnown()
		if until.IsZero() {
			return 0, false
		}
		oldest = max(oldest, o.clock.Now().Sub(until))
	}
	return oldest, true
}

// staleError returns an error if the view of the kind is older than MaxStaleness.
func (w watchedKind) staleError() *StaleError {
	until, err := w.staleness.asOf()
	if age := w.staleness.clock.Now().Sub(until); age > MaxStaleness {
		return &StaleError{w.resource, until, age, err}
	}
	return nil
}

// stalenessError returns the error for the kind with the oldest view, or nil if no view is
// older than MaxStaleness. It ignores optional kinds.
func (o *Observer) stalenessError() error {
	var worst *StaleError
	for _, w := range o.watched {
		if e := w.staleError(); e != nil && !w.optional && (worst == nil || e.Age > worst.Age) {
			worst = e
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}
