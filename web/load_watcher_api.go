package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/evenkeel-project/evenkeel/usage/loadwatcher"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// UsageSource provides the measured usage of nodes.
type UsageSource interface {
	// Enabled reports whether clients may read the usage. If it returns false, the routes answer 404.
	Enabled() bool
	// Source returns the name of the program that measured the usage.
	Source() string
	// Loads returns the nodes with known usage, the length of the window, and the current time.
	Loads() (loads []window.NodeLoads, over time.Duration, now time.Time)
}

// WatcherRoutes returns the routes of a load-watcher: GET /watcher, /watcher?host=NAME and /watcher/health. The answer
// contains only nodes with known usage. If there are none, GET /watcher answers 500, which clients treat as missing
// data. For an unknown host, GET /watcher answers 404. Clients need no authentication, so the routes together serve at
// most maxInFlight requests at once; further requests get 503.
func WatcherRoutes(l UsageSource) []Route {
	turns := make(chan struct{}, maxInFlight)
	page := func(pattern string, f http.HandlerFunc) Route {
		return Route{pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !l.Enabled() {
				http.NotFound(w, r)
				return
			}
			select {
			case turns <- struct{}{}:
				defer func() { <-turns }()
				f(w, r)
			default:
				http.Error(w, fmt.Sprintf("the server is already answering %d requests; try again later", maxInFlight), http.StatusServiceUnavailable)
			}
		})}
	}
	return []Route{
		page("GET /watcher", func(w http.ResponseWriter, r *http.Request) { serveUsage(w, l, r.URL.Query().Get("host")) }),
		page("GET /watcher/health", func(w http.ResponseWriter, _ *http.Request) {
			if loads, _, _ := l.Loads(); len(loads) == 0 {
				http.Error(w, noUsageMessage, http.StatusServiceUnavailable)
			}
		}),
	}
}

const noUsageMessage = "no usage data for any node"

func serveUsage(w http.ResponseWriter, l UsageSource, host string) {
	a := buildAnswer(l)
	if len(a.Data.Nodes) == 0 {
		http.Error(w, noUsageMessage, http.StatusInternalServerError)
		return
	}
	if host != "" {
		n, known := a.Data.Nodes[host]
		if !known {
			http.Error(w, "no usage data for this host", http.StatusNotFound)
			return
		}
		a.Data.Nodes = map[string]loadwatcher.NodeMetrics{host: n}
	}
	var body bytes.Buffer
	if err := loadwatcher.Encode(&body, a); err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body.Bytes()) // an error means that the client closed the connection
}

// buildAnswer builds the answer for all nodes. The window of the answer ends at the newest
// measurement of the node that was measured least recently. Clients add the usage of pods that were
// bound after the end of the window, and a later end would omit some of these pods.
func buildAnswer(l UsageSource) loadwatcher.Answer {
	loads, over, now := l.Loads()
	end := now
	a := loadwatcher.Answer{
		Timestamp: now.Unix(),
		Source:    l.Source(),
		Data:      loadwatcher.Data{Nodes: make(map[string]loadwatcher.NodeMetrics, len(loads))},
	}
	for _, n := range loads {
		if n.At.Before(end) {
			end = n.At
		}
		var m []loadwatcher.Metric
		for _, of := range []struct {
			resource string
			kind     loadwatcher.MetricType
		}{{"cpu", loadwatcher.CPU}, {"memory", loadwatcher.Memory}} {
			if x, known := n.ByResource[of.resource]; known {
				// Clients that read the last metric of a list get the mean.
				m = append(m, loadwatcher.Metric{Type: of.kind, Operator: loadwatcher.Latest, Value: x.Latest},
					loadwatcher.Metric{Type: of.kind, Operator: loadwatcher.Average, Value: x.Mean},
					loadwatcher.Metric{Type: of.kind, Operator: loadwatcher.Deviation, Value: x.Std})
			}
		}
		a.Data.Nodes[n.Node] = loadwatcher.NodeMetrics{Metrics: m}
	}
	a.Window = loadwatcher.Window{Duration: strconv.Itoa(int(over.Minutes())) + "m", Start: end.Add(-over).Unix(), End: end.Unix()}
	return a
}
