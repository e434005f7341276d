package proxy

import (
	"net/http"
	"strings"
)

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
