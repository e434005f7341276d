package proxy

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// fault is the fault that the proxy injects into one request.
type fault string

const (
	none       fault = ""
	late       fault = "delayed"           // forwarded after a delay
	broken     fault = "500"               // answered with status 500, not forwarded
	brokenDone fault = "500 after"         // forwarded, then answered with status 500
	throttled  fault = "429"               // answered with status 429 without Retry-After, not forwarded
	throttledR fault = "429 retry"         // answered with status 429 and Retry-After, not forwarded
	reset      fault = "reset"             // the connection ends before the request is forwarded
	resetDone  fault = "reset after"       // the connection ends after the request is forwarded
	half       fault = "truncated"         // the response ends in the middle
	cut        fault = "watch ended"       // a watch ends after a delay
	stalled    fault = "watch silent"      // a watch falls silent, then ends
	stale      fault = "stale list"        // a list from the cache
	lapsed     fault = "watch expired"     // a watch is refused with status 410; the list that follows is stale
	noWatches  fault = "no streaming list" // a watch with initial events is refused, so the client must list
)

// faults lists the possible faults of each class. All are equally likely; repeated ones are more likely.
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

// Faults configure how often the proxy injects faults.
type Faults struct {
	// Rate is the fraction of requests with a fault, 0 to 1.
	Rate float64
	// RateByClass overrides Rate for some classes.
	Of map[Class]float64
	// MaxDelay is the longest delay of a request. Four of five delayed requests get at most MaxDelay/8.
	MaxDelay time.Duration
	// StaleFor is the maximum age of stale lists.
	StaleFor time.Duration
}

func (f Faults) rate(c Class) float64 {
	if x, ok := f.Of[c]; ok {
		return x
	}
	return f.Rate
}

// pick chooses the fault of a request and its delay.
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
		x = late // the API server guarantees that a list without a resource version is current
	}
	return x, d
}
