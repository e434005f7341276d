package proxy

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// fault is what befalls one request.
type fault string

const (
	none       fault = ""
	late       fault = "late"       // forwarded after a while
	broken     fault = "500"        // answered, not forwarded
	brokenDone fault = "500 done"   // forwarded; then the server seems to fail
	throttled  fault = "429"        // answered, not forwarded, without Retry-After
	throttledR fault = "429 retry"  // the same with Retry-After
	reset      fault = "reset"      // the connection ends before the request is forwarded
	resetDone  fault = "reset done" // the connection ends after it was
	half       fault = "half"       // the answer ends in the middle
	cut        fault = "cut"        // a watch ends after a while
	stalled    fault = "stalled"    // a watch falls silent for a while, then ends
	stale      fault = "stale"      // a list that was true a while ago
	lapsed     fault = "lapsed"     // a watch is refused as too old; the list that follows is stale
	noWatches  fault = "no stream"  // a watch that should begin with a list is refused: the client lists
)

// faults are those that can befall a class of requests, all equally likely.
var faults = map[Class][]fault{
	List:     {late, broken, throttled, throttledR, reset, half, stale, stale, stale},
	Watch:    {late, broken, throttled, throttledR, reset, cut, stalled, lapsed, lapsed},
	Get:      {late, broken, throttled, throttledR, reset, half},
	Eviction: {late, broken, brokenDone, throttled, throttledR, reset, resetDone, half},
	Lease:    {late, broken, brokenDone, throttled, throttledR, reset, resetDone, half},
	Memory:   {late, broken, brokenDone, throttled, throttledR, reset, resetDone, half},
	Event:    {late, broken, throttledR, reset},
	Other:    {late, broken, reset},
}

// Faults say how often requests fare badly.
type Faults struct {
	// Rate is the share of requests, 0..1.
	Rate float64
	// Of overrides Rate for some classes.
	Of map[Class]float64
	// MaxDelay bounds how long requests are held back; at most MaxDelay/8 for
	// most of them.
	MaxDelay time.Duration
	// StaleFor bounds the age of stale lists.
	StaleFor time.Duration
}

func (f Faults) rate(c Class) float64 {
	if x, ok := f.Of[c]; ok {
		return x
	}
	return f.Rate
}

// draw decides about a request.
func (f Faults) draw(rnd *rand.Rand, c Class, r *http.Request) (fault, time.Duration) {
	hit, which, share, long := rnd.Float64() < f.rate(c), rnd.IntN(1<<30), rnd.Float64(), rnd.IntN(5) == 0
	if !hit {
		return none, 0
	}
	d := time.Duration(share * float64(f.MaxDelay))
	if !long {
		d /= 8
	}
	list := faults[c]
	x := list[which%len(list)]
	if c == Watch && r.URL.Query().Get("sendInitialEvents") == "true" && which%3 > 0 {
		x = noWatches
	}
	if x == stale && r.URL.Query().Get("resourceVersion") == "" {
		x = late // a list without a version must be true; anything else is one of a server that breaks its word
	}
	return x, d
}
