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
	// watchProvenAfter is how long a new watch must stay open, when it brings nothing,
	// before it counts as working. What stands before the API server may open
	// watches and end them at once; informers, too, call a shorter one a failure.
	watchProvenAfter = time.Second
	// maxWatchSilence is how long a watch may be silent that has brought a bookmark:
	// API servers send one a minute.
	maxWatchSilence = 3 * time.Minute
)

// staleness knows up to when the view of one kind is current: now while a watch
// works, else until the last one ended or the last whole list was asked for.
type staleness struct {
	clock clock.PassiveClock

	mu          sync.Mutex
	until       time.Time     // when no watch works; the zero time before the first list
	listStarted time.Time     // when the last list was begun
	stream      *trackedWatch // the one that is open
	err         error         // of the last failure
}

// asOf returns up to when the view is current, and what failed last.
func (c *staleness) asOf() (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.stream == nil {
		return c.until, c.err
	}
	switch t := c.stream.currentUntil(now); {
	case t.IsZero() || t.Before(c.until):
		return c.until, c.err
	case t.Before(now):
		return t, fmt.Errorf("nothing has come on its watch for %s, not even bookmarks", now.Sub(t).Round(time.Second))
	}
	return now, nil
}

func (c *staleness) recordFailure(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = plainError(err)
}

// startList takes note of when a list is begun.
func (c *staleness) startList() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listStarted = c.clock.Now()
}

// finishList takes note of a list that is whole.
func (c *staleness) finishList() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(c.listStarted)
	c.err = nil
}

func (c *staleness) advance(t time.Time) {
	if t.After(c.until) {
		c.until = t
	}
}

// trackList lists, and takes note of how it went. A list in pages is whole with its
// last page, and as old as its first.
func trackList[L runtime.Object](c *staleness, opts metav1.ListOptions, list func() (L, error)) (runtime.Object, error) {
	if opts.Continue == "" {
		c.startList()
	}
	out, err := list()
	if err != nil {
		c.recordFailure(err)
		return out, err
	}
	if m, ok := any(out).(metav1.ListInterface); ok && m.GetContinue() == "" {
		c.finishList()
	}
	return out, nil
}

// trackWatch opens a watch, and takes note of what comes on it.
func trackWatch(c *staleness, opts metav1.ListOptions, open func() (watch.Interface, error)) (watch.Interface, error) {
	w, err := open()
	if err != nil {
		c.recordFailure(err)
		return nil, err
	}
	s := &trackedWatch{Interface: w, staleness: c, openedAt: c.clock.Now(), out: make(chan watch.Event), done: make(chan struct{}),
		sendingInitial: opts.SendInitialEvents != nil && *opts.SendInitialEvents}
	c.mu.Lock()
	c.stream = s
	c.mu.Unlock()
	go s.forward()
	return s, nil
}

// trackedWatch is a watch whose events are noted before they are passed on: whoever
// has taken the first list from it finds the view current.
type trackedWatch struct {
	watch.Interface
	staleness *staleness
	out       chan watch.Event
	done      chan struct{}
	stop      sync.Once

	// Guarded by currency.mu.
	openedAt       time.Time
	lastEvent      time.Time // the last event
	sendingInitial bool      // it still sends what was there before
	bookmarked     bool
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

// currentUntil is up to when the stream shows the state; the zero time when it
// does not, or is too new to tell.
func (s *trackedWatch) currentUntil(now time.Time) time.Time {
	switch {
	case s.broken || s.sendingInitial:
		return time.Time{}
	case s.bookmarked && now.Sub(s.lastEvent) > maxWatchSilence:
		return s.lastEvent
	case s.lastEvent.IsZero() && now.Sub(s.openedAt) < watchProvenAfter:
		return time.Time{}
	}
	return now
}

func (s *trackedWatch) record(e watch.Event) {
	c := s.staleness
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if e.Type == watch.Error {
		c.advance(s.currentUntil(now))
		s.broken, c.err = true, plainError(apierrors.FromObject(e.Object))
		return
	}
	if e.Type == watch.Bookmark {
		if endsInitialEvents(e.Object) {
			s.sendingInitial = false
		} else {
			s.bookmarked = true
		}
	}
	if !s.sendingInitial {
		s.lastEvent = now
	}
}

func endsInitialEvents(o runtime.Object) bool {
	m, ok := o.(metav1.Object)
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

var errWatchEnded = errors.New("its watch ended, and no other began")

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
