package proxy

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
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

// possibleFaults lists the faults that the proxy may inject into requests of each class. The proxy picks an entry at
// random, so a fault that is listed three times is three times as likely.
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

// pickFault chooses the fault to inject into a request, and the delay before
// it.
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
	State    Class = "state" // any request for ConfigMaps and objects of evenkeel.io, in which the program keeps its state
	Event    Class = "event"
	Other    Class = "other"
)

var requestInfo = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api")}

// classify returns the class of a request from its method, path and query.
func classify(r *http.Request) Class {
	info, err := requestInfo.NewRequestInfo(r)
	if err != nil {
		return Other
	}
	switch {
	case info.Verb == "create" && info.Subresource == "eviction":
		return Eviction
	case info.Resource == "leases":
		return Lease
	case info.Resource == "configmaps", info.APIGroup == "evenkeel.io":
		return State
	case info.Resource == "events":
		return Event
	case slices.Contains([]Class{List, Watch, Get}, Class(info.Verb)):
		return Class(info.Verb)
	}
	return Other
}
