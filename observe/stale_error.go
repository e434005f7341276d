package observe

import (
	"fmt"
	"time"
)

// StaleError is the error of a snapshot that would show what is long past.
type StaleError struct {
	Resource string
	// Until is up to when the view of it is current; zero when it never was.
	Until time.Time
	Age   time.Duration
	Max   time.Duration
	Err   error // the last failure; nil when none was told of
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

// SetMaxStaleness says how far behind the cluster the view of any kind may be for a
// snapshot to be made of it; 0 means any time.
func (o *Observer) SetMaxStaleness(d time.Duration) { o.maxStaleness.Store(int64(d)) }

// stalenessError is the error for the kind that is the furthest behind, when that is more
// than the bound.
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
