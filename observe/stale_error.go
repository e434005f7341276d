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
	why := "no watch could be opened"
	if e.Err != nil {
		why = e.Err.Error()
	}
	if e.Until.IsZero() {
		return fmt.Sprintf("%s were never listed: %s", e.Resource, why)
	}
	return fmt.Sprintf("the view of %s is from %s, %s ago, older than guards.maxStaleness %s: %s; check the API server and the network",
		e.Resource, e.Until.UTC().Format(time.RFC3339), e.Age.Round(time.Second), e.Max, why)
}

func (e *StaleError) Unwrap() error { return e.Err }
