package observe

import (
	"fmt"
	"time"
)

// StaleError says that the view of a kind is too old for a snapshot.
type StaleError struct {
	Resource string
	// Until is the time up to which the view is current. It is zero if the kind was never
	// listed.
	Until time.Time
	Age   time.Duration
	Max   time.Duration
	Err   error // the last failure; nil if none was reported
}

func (e *StaleError) Error() string {
	why := "no watch of them could be opened"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("%s have not been listed yet: %s", e.Resource, why)
	}
	return fmt.Sprintf("%s are known as of %s only, %s ago, longer than guards.maxStaleness %s: %s; check the API server and the way to it",
		e.Resource, e.Until.UTC().Format(time.RFC3339), e.Age.Round(time.Second), e.Max, why)
}

func (e *StaleError) Unwrap() error { return e.Err }

// SetMaxStaleness sets how old the view of any kind may be for a snapshot. 0 means no limit.
func (o *Observer) SetMaxStaleness(d time.Duration) { o.maxStaleness.Store(int64(d)) }

// stalenessError returns the error for the kind with the oldest view, or nil if no view is
// older than the limit.
func (o *Observer) stalenessError() error {
	bound := time.Duration(o.maxStaleness.Load())
	if bound <= 0 {
		return nil
	}
	var worst *StaleError
	for _, w := range o.watched {
		until, err := w.staleness.asOf()
		e := &StaleError{w.resource, until, o.clock.Now().Sub(until), bound, err}
		if e.Age > e.Max && (worst == nil || e.Age > worst.Age) {
			worst = e
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}
