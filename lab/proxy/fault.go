package proxy

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// fault is the fault that the proxy injects into one request.
type fault string

const (
	none                fault = ""
	delayed             fault = "delayed"           // forwarded after a delay
	serverError         fault = "500"               // answered with status 500, not forwarded
	serverErrorAfter    fault = "500 after"         // forwarded, then answered with status 500
	throttled           fault = "429"               // answered with status 429 without Retry-After, not forwarded
	throttledRetryAfter fault = "429 retry"         // answered with status 429 and Retry-After, not forwarded
	reset               fault = "reset"             // the connection ends before the request is forwarded
	resetAfter          fault = "reset after"       // the connection ends after the request is forwarded
	truncated           fault = "truncated"         // the response ends in the middle
	watchEnded          fault = "watch ended"       // a watch ends after a delay
	watchSilent         fault = "watch silent"      // a watch falls silent, then ends
	staleList           fault = "stale list"        // a list from the cache
	watchExpired        fault = "watch expired"     // a watch is refused with status 410; the list that follows is stale
	noStreamingList     fault = "no streaming list" // a watch with initial events is refused, so the client must list
)

// possibleFaults lists the possible faults of each class. All entries are equally likely; a repeated fault is more
// likely.
var possibleFaults = map[Class][]fault{
	List:     {delayed, serverError, throttled, throttledRetryAfter, reset, truncated, staleList, staleList, staleList},
	Watch:    {delayed, serverError, throttled, throttledRetryAfter, reset, watchEnded, watchSilent, watchExpired, watchExpired},
	Get:      {delayed, serverError, throttled, throttledRetryAfter, reset, truncated},
	Eviction: {delayed, serverError, serverErrorAfter, throttled, throttledRetryAfter, reset, resetAfter, truncated},
	Lease:    {delayed, serverError, serverErrorAfter, throttled, throttledRetryAfter, reset, resetAfter, truncated},
	State:    {delayed, serverError, serverErrorAfter, throttled, throttledRetryAfter, reset, resetAfter, truncated},
	Event:    {delayed, serverError, throttledRetryAfter, reset},
	Other:    {delayed, serverError, reset},
}

// Faults configure how often the proxy injects faults.
type Faults struct {
	// Rate is the fraction of requests that get a fault, from 0 to 1.
	Rate float64
	// RateByClass overrides Rate for some classes.
	RateByClass map[Class]float64
	// MaxDelay is the longest delay of a request. Four of five delayed requests wait at most MaxDelay/8.
	MaxDelay time.Duration
	// StaleFor is the maximum age of stale lists.
	StaleFor time.Duration
}

func (f Faults) rate(c Class) float64 {
	if x, ok := f.RateByClass[c]; ok {
		return x
	}
	return f.Rate
}

// pickFault chooses the fault of a request and its delay.
func (f Faults) pickFault(rnd *rand.Rand, c Class, r *http.Request) (fault, time.Duration) {
	hit, which, share, long := rnd.Float64() < f.rate(c), rnd.IntN(1<<30), rnd.Float64(), rnd.IntN(5) == 0
	if !hit {
		return none, 0
	}
	d := time.Duration(share * float64(f.MaxDelay))
	if !long {
		d /= 8
	}
	list := possibleFaults[c]
	x := list[which%len(list)]
	if c == Watch && r.URL.Query().Get("sendInitialEvents") == "true" && which%3 > 0 {
		x = noStreamingList
	}
	if x == staleList && r.URL.Query().Get("resourceVersion") == "" {
		x = delayed // the API server guarantees that a list without a resource version is current
	}
	return x, d
}

// Class is the kind of a request.
type Class string

// The classes of requests.
const (
	List     Class = "list"
	Watch    Class = "watch"
	Get      Class = "get"
	Eviction Class = "eviction"
	Lease    Class = "lease" // any request for Leases
	State    Class = "state" // any request for ConfigMaps, in which the program keeps its state
	Event    Class = "event"
	Other    Class = "other"
)

// classify returns the class of a request from its method and path.
func classify(r *http.Request) Class {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	at := len(parts) - 1
	has := func(name string) bool { return parts[at] == name || at > 0 && parts[at-1] == name }
	switch {
	case r.Method == http.MethodPost && parts[at] == "eviction":
		return Eviction
	case has("leases"):
		return Lease
	case has("configmaps"):
		return State
	case has("events"):
		return Event
	case r.Method != http.MethodGet:
		return Other
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		return Watch
	case isList(parts):
		return List
	}
	return Get
}

// isList reports whether a path names a collection, such as /api/v1/pods or /api/v1/namespaces/NS/pods, or the same
// below /apis. In the path of a collection, one or three path elements follow the API version.
func isList(parts []string) bool {
	n := len(parts)
	switch {
	case parts[0] == "api" && n > 2:
		n -= 2
	case parts[0] == "apis" && n > 3:
		n -= 3
	default:
		return false
	}
	rest := parts[len(parts)-n:]
	return n == 1 || n == 3 && rest[0] == "namespaces"
}
