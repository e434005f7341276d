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

// UsageSource knows what nodes use.
type UsageSource interface {
	// Served says whether clients may know: if not, nothing is found here.
	Enabled() bool
	// Source names where that comes from.
	Source() string
	// Loads are those of nodes whose usage is known, over which time, and when.
	Loads() (loads []window.NodeLoads, over time.Duration, now time.Time)
}

// WatcherRoutes are the pages of a load-watcher: GET /watcher, /watcher?host=NAME and
// /watcher/health. A node whose usage is not known is left out. Where none is known the
// answer is 500, which its clients take for no data; a host that is not in the answer
// is 404. Of all of them together so many are answered at once as of /metrics, for
// nobody has to say who they are; others get 503.
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
				http.Error(w, fmt.Sprintf("%d requests are being answered already", maxInFlight), http.StatusServiceUnavailable)
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

const noUsageMessage = "the usage of no node is known"

func serveUsage(w http.ResponseWriter, l UsageSource, host string) {
	a := buildAnswer(l)
	if len(a.Data.Nodes) == 0 {
		http.Error(w, noUsageMessage, http.StatusInternalServerError)
		return
	}
	if host != "" {
		n, known := a.Data.Nodes[host]
		if !known {
			http.Error(w, "the usage of this host is not known", http.StatusNotFound)
			return
		}
		a.Data.Nodes = map[string]loadwatcher.NodeMetrics{host: n}
	}
	var body bytes.Buffer
	if err := loadwatcher.Encode(&body, a); err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body.Bytes()) // a client that has left is nobody's trouble
}

// buildAnswer ends with the oldest of the newest measurements: clients add what pods use
// that were bound since, and would miss some otherwise.
func buildAnswer(l UsageSource) loadwatcher.Answer {
	loads, over, now := l.Loads()
	end := now
	a := loadwatcher.Answer{Timestamp: now.Unix(), Source: l.Source(), Data: loadwatcher.Data{Nodes: make(map[string]loadwatcher.NodeMetrics, len(loads))}}
	for _, n := range loads {
		if n.At.Before(end) {
			end = n.At
		}
		var m []loadwatcher.Metric
		for _, of := range []struct {
			resource string
			kind     loadwatcher.Type
		}{{"cpu", loadwatcher.CPU}, {"memory", loadwatcher.Memory}} {
			if x, known := n.ByResource[of.resource]; known {
				// Clients that take the last of what they know take the mean.
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
