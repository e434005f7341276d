package observe

import (
	"fmt"
	"time"
)

// Stale is the error of a snapshot that would show what is long past.
type Stale struct {
	Resource string
	// Until is up to when the view of it is current; zero when it never was.
	Until time.Time
	Age   time.Duration
	Bound time.Duration
	Err   error // the last failure; nil when none was told of
}

func (e *Stale) Error() string {
	why := "no watch of them could be opened"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("%s have not been listed yet: %s", e.Resource, why)
	}
	return fmt.Sprintf("%s are known as of %s only, %s ago, longer than guards.maxStaleness %s: %s; check the API server and the way to it",
		e.Resource, e.Until.UTC().Format(time.RFC3339), e.Age.Round(time.Second), e.Bound, why)
}

func (e *Stale) Unwrap() error { return e.Err }

// BoundStaleness says how far behind the cluster the view of any kind may be for a
// snapshot to be made of it; 0 means any time.
func (o *Observer) BoundStaleness(d time.Duration) { o.bound.Store(int64(d)) }

// stale is the error for the kind that is the furthest behind, when that is more
// than the bound.
func (o *Observer) stale() error {
	bound := time.Duration(o.bound.Load())
	if bound <= 0 {
		return nil
	}
	var worst *Stale
	for _, w := range o.watched {
		until, err := w.currency.asOf()
		e := &Stale{w.resource, until, o.clock.Now().Sub(until), bound, err}
		if e.Age > e.Bound && (worst == nil || e.Age > worst.Age) {
			worst = e
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}
