package observe

import (
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
)

const (
	// watchProvenAfter is the time after which a new watch without events counts as working. A proxy
	// in front of the API server may open a watch and close it at once.
	watchProvenAfter = time.Second
	// MaxStaleness limits the age of the view of each kind for a snapshot. Watches that are silent for longer no longer
	// count as working. API servers send a bookmark every minute if there are no events, but not for every kind that
	// never changes. So after a gap in watch events, only a fresh LIST proves that the view is current.
	MaxStaleness = 2 * time.Minute
)

// StaleError says that the view of a kind is too old for a snapshot.
type StaleError struct {
	Resource string
	// Until is the time up to which the view is current. Zero means that the kind was never listed.
	Until time.Time
	Age   time.Duration
	Err   error // the last failure; nil if none was reported
}

func (e *StaleError) Error() string {
	why := "no watch could be opened"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("%s were never listed: %s", e.Resource, why)
	}
	return fmt.Sprintf("the view of %s is from %s, %s ago, older than %s: %s; check the API server and the network",
		e.Resource, e.Until.UTC().Format(time.RFC3339), e.Age.Round(time.Second), MaxStaleness, why)
}

func (e *StaleError) Unwrap() error { return e.Err }

// staleness tracks the time up to which the view of one kind is current. While a watch works, the
// view is up to date. After a watch ends, the view stays current up to the end of the watch, or up to
// the start of the last complete list.
type staleness struct {
	clock clock.PassiveClock

	mu          sync.Mutex
	until       time.Time     // valid while no watch works; zero before the first list
	listStarted time.Time     // the start of the last list
	lastSign    time.Time     // the last event or bookmark of any watch, or the end of the last complete list
	stream      *trackedWatch // the open watch
	err         error         // the last failure
}

// asOf returns the time up to which the view is current, and the last failure. asOf ends a watch if there was no event
// for too long, so that the informer lists again.
func (c *staleness) asOf() (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.stream == nil {
		return c.until, c.err
	}
	switch t := c.stream.currentUntil(now); {
	case c.stream.silent(now):
		c.advance(t)
		go c.stream.Stop() // its end is recorded under the lock
		return c.until, fmt.Errorf("its watch has been silent for %s, without even bookmarks", now.Sub(c.lastSign).Round(time.Second))
	case t.IsZero():
		return c.until, c.err
	}
	return now, nil
}

// lastKnown returns the time up to which the view is current, like asOf. It changes nothing.
func (c *staleness) lastKnown() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.stream == nil {
		return c.until
	}
	switch t := c.stream.currentUntil(now); {
	case c.stream.silent(now):
		return later(c.until, t)
	case t.IsZero():
		return c.until
	}
	return now
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// silent reports whether the last sign that the view is current is too old.
func (c *staleness) silent(now time.Time) bool {
	return now.Sub(c.lastSign) > MaxStaleness
}

func (c *staleness) recordFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = PlainError(err)
}

// startList records the start of a list.
func (c *staleness) startList() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listStarted = c.clock.Now()
}

// finishList records a complete list.
func (c *staleness) finishList() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(c.listStarted)
	c.lastSign = c.clock.Now()
	c.err = nil
}

// needsList reports whether a watch cannot bring the view up to date without a list before.
func (c *staleness) needsList() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent(c.clock.Now())
}

func (c *staleness) advance(t time.Time) {
	if t.After(c.until) {
		c.until = t
	}
}

// trackList runs a list request and records the outcome. A list is complete after its last page. The
// view is then current up to the request for the first page. Informers request the version that they last saw or any
// later one, which the API server may answer from a cache as old as a silent watch. So after a gap in watch events,
// trackList requests the latest version.
func trackList[L runtime.Object](
	c *staleness, opts metav1.ListOptions, list func(metav1.ListOptions) (L, error),
) (runtime.Object, error) {
	if opts.Continue == "" {
		c.startList()
		if c.needsList() {
			opts.ResourceVersion, opts.ResourceVersionMatch = "", ""
		}
	}
	out, err := list(opts)
	if err != nil {
		c.recordFailure(err)
		return out, err
	}
	if m, ok := any(out).(metav1.ListInterface); ok && m.GetContinue() == "" {
		c.finishList()
	}
	return out, nil
}

// trackWatch opens a watch and records its events. After a gap in watch events, trackWatch refuses a watch that does
// not begin with the initial objects, so the informer lists again: the new watch could be as silent as the last one.
// The initial objects are then those of the latest version, for the reason that trackList gives; API servers require
// the match NotOlderThan also for these.
func trackWatch(
	c *staleness, opts metav1.ListOptions, open func(metav1.ListOptions) (watch.Interface, error),
) (watch.Interface, error) {
	initial := opts.SendInitialEvents != nil && *opts.SendInitialEvents
	if c.needsList() {
		if !initial {
			return nil, apierrors.NewResourceExpired("the watches were silent for too long, so a list is necessary")
		}
		opts.ResourceVersion = ""
	}
	w, err := open(opts)
	if err != nil {
		c.recordFailure(err)
		return nil, err
	}
	s := &trackedWatch{Interface: w, staleness: c, openedAt: c.clock.Now(), out: make(chan watch.Event), done: make(chan struct{}),
		sendingInitial: initial}
	c.mu.Lock()
	c.stream = s
	c.mu.Unlock()
	go s.forward()
	return s, nil
}

// trackedWatch records each event before forwarding it to the informer. When the informer has received
// the initial objects, the view therefore already counts as current.
type trackedWatch struct {
	watch.Interface
	staleness *staleness
	out       chan watch.Event
	done      chan struct{}
	stop      sync.Once

	// The fields below are guarded by staleness.mu.
	openedAt       time.Time
	lastEvent      time.Time // the time of the last event
	sendingInitial bool      // the initial objects are still being sent
	broken         bool
}

func (s *trackedWatch) ResultChan() <-chan watch.Event { return s.out }

func (s *trackedWatch) Stop() {
	s.stop.Do(func() { close(s.done) })
	s.Interface.Stop()
}

func (s *trackedWatch) forward() {
	defer close(s.out)
	defer s.recordEnd()
	for e := range s.Interface.ResultChan() {
		s.record(e)
		select {
		case s.out <- e:
		case <-s.done:
			return
		}
	}
}

// currentUntil returns the time up to which the events of the watch are complete. It returns the zero
// time if the watch is broken or too new, or silent without having sent an event.
func (s *trackedWatch) currentUntil(now time.Time) time.Time {
	switch {
	case s.broken || s.sendingInitial:
		return time.Time{}
	case s.silent(now):
		return s.lastEvent
	case s.lastEvent.IsZero() && now.Sub(s.openedAt) < watchProvenAfter:
		return time.Time{}
	}
	return now
}

// silent reports whether the watch works, but there was no event for too long.
func (s *trackedWatch) silent(now time.Time) bool {
	return !s.broken && !s.sendingInitial && s.staleness.silent(now)
}

func (s *trackedWatch) record(e watch.Event) {
	c := s.staleness
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if e.Type == watch.Error {
		c.advance(s.currentUntil(now))
		s.broken, c.err = true, PlainError(apierrors.FromObject(e.Object))
		return
	}
	if e.Type == watch.Bookmark {
		s.sendingInitial = s.sendingInitial && !endsInitialEvents(e.Object)
	}
	if !s.sendingInitial {
		s.lastEvent, c.lastSign = now, now
	}
}

func endsInitialEvents(o runtime.Object) bool {
	m, ok := o.(metav1.Object)
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

var errWatchEnded = errors.New("its watch ended, and no new watch was opened")

func (s *trackedWatch) recordEnd() {
	c := s.staleness
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(s.currentUntil(c.clock.Now()))
	if c.stream != s {
		return
	}
	c.stream = nil
	if !s.broken {
		c.err = errWatchEnded
	}
}
