package evictor

import (
	"context"
	"slices"
	"sync"
	"time"
)

// How many evictions are asked for at the same time follows the answers. The
// server makes each wait for its watch cache (about 100 ms), so that one at a
// time gives 10/s whatever the machine; the more at once, the more per second,
// until it is busy: from there on more at once make each take longer, and give
// next to nothing. Answers below quick say that there is room for one more, the
// first that is not that from now on there is one more per round of answers;
// those above slow say that there are too many. Both are far from answerTime,
// after which nobody knows what was done: a server that other things keep busy
// all of a sudden has to answer in time as many as are under way.
const (
	lanesAtFirst, fewestLanes, mostLanes = 32, 4, 64

	quick, slow = 500 * time.Millisecond, time.Second
)

// lanes bounds the calls that are under way.
type lanes struct {
	mu          sync.Mutex
	limit, busy int
	// cut is when the limit was last lowered. Calls begun before say nothing new.
	cut time.Time
	// busyOnce: an answer was not quick; quickly counts those that were since the
	// limit was last changed.
	busyOnce bool
	quickly  int
	waiting  []chan struct{}
}

func newLanes() *lanes { return &lanes{limit: lanesAtFirst} }

// enter waits for a free lane, first come first served; false when ctx ends
// before.
func (l *lanes) enter(ctx context.Context) bool {
	l.mu.Lock()
	if l.busy < l.limit && len(l.waiting) == 0 {
		l.busy++
		l.mu.Unlock()
		return true
	}
	mine := make(chan struct{})
	l.waiting = append(l.waiting, mine)
	l.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else {
		l.busy-- // it was given in the same moment
		l.admit()
	}
	return false
}

// leave frees a lane.
func (l *lanes) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	l.admit()
}

// learn adjusts the limit to a call that began and was answered then.
func (l *lanes) learn(began, answered time.Time, throttled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := answered.Sub(began)
	if throttled || took >= quick {
		l.busyOnce = true
	}
	switch {
	case throttled || took > slow:
		if began.After(l.cut) {
			l.limit, l.cut, l.quickly = max(fewestLanes, l.limit/2), answered, 0
		}
	case took < quick && began.After(l.cut):
		if l.quickly++; !l.busyOnce || l.quickly >= l.limit {
			l.limit, l.quickly = min(mostLanes, l.limit+1), 0
			l.admit()
		}
	}
}

func (l *lanes) admit() {
	for l.busy < l.limit && len(l.waiting) > 0 {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.busy++
	}
}
