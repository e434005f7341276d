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
	// provenAfter is how long a new watch must stay open, when it brings nothing,
	// before it counts as working. What stands before the API server may open
	// watches and end them at once; informers, too, call a shorter one a failure.
	provenAfter = time.Second
	// silentAfter is how long a watch may be silent that has brought a bookmark:
	// API servers send one a minute.
	silentAfter = 3 * time.Minute
)

// currency knows up to when the view of one kind is current: now while a watch
// works, else until the last one ended or the last whole list was asked for.
type currency struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	until time.Time // when no watch works; the zero time before the first list
	asked time.Time // when the last list was begun
	watch *stream   // the one that is open
	err   error     // of the last failure
}

// asOf returns up to when the view is current, and what failed last.
func (c *currency) asOf() (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.watch == nil {
		return c.until, c.err
	}
	switch t := c.watch.workedUntil(now); {
	case t.IsZero() || t.Before(c.until):
		return c.until, c.err
	case t.Before(now):
		return t, fmt.Errorf("nothing has come on its watch for %s, not even bookmarks", now.Sub(t).Round(time.Second))
	}
	return now, nil
}

func (c *currency) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = plainly(err)
}

// asks takes note of when a list is begun.
func (c *currency) asks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = c.clock.Now()
}

// listed takes note of a list that is whole.
func (c *currency) listed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extend(c.asked)
	c.err = nil
}

func (c *currency) extend(t time.Time) {
	if t.After(c.until) {
		c.until = t
	}
}

// listThrough lists, and takes note of how it went. A list in pages is whole with its
// last page, and as old as its first.
func listThrough[L runtime.Object](c *currency, opts metav1.ListOptions, list func() (L, error)) (runtime.Object, error) {
	if opts.Continue == "" {
		c.asks()
	}
	out, err := list()
	if err != nil {
		c.failed(err)
		return out, err
	}
	if m, ok := any(out).(metav1.ListInterface); ok && m.GetContinue() == "" {
		c.listed()
	}
	return out, nil
}

// watchThrough opens a watch, and takes note of what comes on it.
func watchThrough(c *currency, opts metav1.ListOptions, open func() (watch.Interface, error)) (watch.Interface, error) {
	w, err := open()
	if err != nil {
		c.failed(err)
		return nil, err
	}
	s := &stream{Interface: w, currency: c, opened: c.clock.Now(), out: make(chan watch.Event), done: make(chan struct{}),
		initial: opts.SendInitialEvents != nil && *opts.SendInitialEvents}
	c.mu.Lock()
	c.watch = s
	c.mu.Unlock()
	go s.pass()
	return s, nil
}

// stream is a watch whose events are noted before they are passed on: whoever
// has taken the first list from it finds the view current.
type stream struct {
	watch.Interface
	currency *currency
	out      chan watch.Event
	done     chan struct{}
	stop     sync.Once

	// Guarded by currency.mu.
	opened     time.Time
	heard      time.Time // the last event
	initial    bool      // it still sends what was there before
	bookmarked bool
	broken     bool
}

func (s *stream) ResultChan() <-chan watch.Event { return s.out }

func (s *stream) Stop() {
	s.stop.Do(func() { close(s.done) })
	s.Interface.Stop()
}

func (s *stream) pass() {
	defer close(s.out)
	defer s.ended()
	for e := range s.Interface.ResultChan() {
		s.note(e)
		select {
		case s.out <- e:
		case <-s.done:
			return
		}
	}
}

// workedUntil is up to when the stream shows the state; the zero time when it
// does not, or is too new to tell.
func (s *stream) workedUntil(now time.Time) time.Time {
	switch {
	case s.broken || s.initial:
		return time.Time{}
	case s.bookmarked && now.Sub(s.heard) > silentAfter:
		return s.heard
	case s.heard.IsZero() && now.Sub(s.opened) < provenAfter:
		return time.Time{}
	}
	return now
}

func (s *stream) note(e watch.Event) {
	c := s.currency
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if e.Type == watch.Error {
		c.extend(s.workedUntil(now))
		s.broken, c.err = true, plainly(apierrors.FromObject(e.Object))
		return
	}
	if e.Type == watch.Bookmark {
		if endsInitial(e.Object) {
			s.initial = false
		} else {
			s.bookmarked = true
		}
	}
	if !s.initial {
		s.heard = now
	}
}

func endsInitial(o runtime.Object) bool {
	m, ok := o.(metav1.Object)
	return ok && m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

var errEnded = errors.New("its watch ended, and no other began")

func (s *stream) ended() {
	c := s.currency
	c.mu.Lock()
	defer c.mu.Unlock()
	c.extend(s.workedUntil(c.clock.Now()))
	if c.watch != s {
		return
	}
	c.watch = nil
	if !s.broken {
		c.err = errEnded
	}
}
