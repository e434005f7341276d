package metrics

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// modeChange is how long before and after a process reads a changed dryRun its permissions may be those of the other
// mode. A kubelet updates the file within 2 minutes; the permissions change at once.
const modeChange = 3 * time.Minute

// forbiddenMethods are the methods whose counters are 0 before the first refusal, so that it is an increase.
var forbiddenMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// forbiddenRequests counts the requests that the API server forbade, without those around a change of the mode.
type forbiddenRequests struct {
	desc *prometheus.Desc

	mu        sync.Mutex
	settle    time.Duration        // a request counts after this time; 0: at once
	counted   map[string]float64   // by method
	undecided map[string][]refusal // the requests of the last settle, by method
	ignored   time.Time            // requests before this time do not count
}

// refusal is a number of requests within a second, so that their list is bounded.
type refusal struct {
	second time.Time
	n      float64
}

func newForbiddenRequests(r prometheus.Registerer) *forbiddenRequests {
	f := &forbiddenRequests{desc: prometheus.NewDesc(defForbidden.name, defForbidden.help, defForbidden.labelNames(), nil),
		counted: map[string]float64{}, undecided: map[string][]refusal{}}
	for _, method := range forbiddenMethods {
		f.counted[method] = 0
	}
	r.MustRegister(f)
	return f
}

func (f *forbiddenRequests) add(method string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	switch list := f.undecided[method]; {
	case now.Before(f.ignored):
	case f.settle == 0:
		f.counted[method]++
	case len(list) > 0 && list[len(list)-1].second.Equal(now.Truncate(time.Second)):
		list[len(list)-1].n++
	default:
		f.settleAt(now)
		f.undecided[method] = append(f.undecided[method], refusal{now.Truncate(time.Second), 1})
	}
}

// settleAt counts the requests that are old enough.
func (f *forbiddenRequests) settleAt(now time.Time) {
	for method, list := range f.undecided {
		f.undecided[method] = slices.DeleteFunc(list, func(r refusal) bool {
			old := now.Sub(r.second) >= f.settle
			if old {
				f.counted[method] += r.n
			}
			return old
		})
	}
}

// Describe implements prometheus.Collector.
func (f *forbiddenRequests) Describe(to chan<- *prometheus.Desc) { to <- f.desc }

// Collect implements prometheus.Collector.
func (f *forbiddenRequests) Collect(to chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleAt(time.Now())
	for method, n := range f.counted {
		to <- prometheus.MustNewConstMetric(f.desc, prometheus.CounterValue, n, method)
	}
}

// ExpectModeChanges says that this process follows its configuration, so that ModeChanged may be called.
func (m *Metrics) ExpectModeChanges() {
	m.forbidden.mu.Lock()
	defer m.forbidden.mu.Unlock()
	m.forbidden.settle = modeChange
}

// ModeChanged says that the configuration has changed between dry run and evictions. It returns how many requests were
// forbidden lately, which do not count.
func (m *Metrics) ModeChanged() (dropped int) {
	f := m.forbidden
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.settleAt(now)
	for _, list := range f.undecided {
		for _, r := range list {
			dropped += int(r.n)
		}
	}
	f.undecided, f.ignored = map[string][]refusal{}, now.Add(modeChange)
	return dropped
}
