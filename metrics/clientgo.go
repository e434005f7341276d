package metrics

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"
	clientmetrics "k8s.io/client-go/tools/metrics"
)

// The metrics of client-go have the names that other programs of Kubernetes use, without the label host: a process
// talks to one API server.
var (
	defRequests = definition{name: "rest_client_requests_total", kind: counter, unit: "requests",
		help:   "Requests to the API server by status code and method. A watch counts once.",
		labels: []label{codeLabel, methodLabel}, absent: noRequest + "; `403` is 0 before the first one"}
	defForbidden = definition{name: "evenkeel_forbidden_requests_total", kind: counter, unit: "requests",
		help: "Requests that the API server answered with 403. Those within 3 minutes of a change of dryRun do not count, because " +
			"the permissions of the release change, too. A process that follows its configuration counts a request after 3 minutes.",
		labels: []label{methodLabel}}
	defRequestSeconds = definition{name: "rest_client_request_duration_seconds", kind: histogram, unit: "seconds",
		help: "Time until the API server answered, with all attempts. Watches do not count.", labels: []label{{"verb", methodLabel.values}},
		absent: noRequest, buckets: []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}}
	defRetries = definition{name: "rest_client_request_retries_total", kind: counter, unit: "attempts",
		help:   "Attempts that repeated a request to the API server.",
		labels: []label{codeLabel, {"verb", methodLabel.values}}, absent: noRequest}
	defLeaderStatus = definition{name: "leader_election_master_status", kind: gauge, unit: "0 or 1",
		help: "1 if this process holds the Lease, by the name of the Lease.", labels: []label{leaseLabel}, absent: "without a Lease to wait for"}
	defSlowPath = definition{name: "leader_election_slowpath_total", kind: counter, unit: "renewals",
		help: "Renewals of the Lease that had to read it first.", labels: []label{leaseLabel}, absent: "until the first such renewal"}
)

const noRequest = "until the first such request"

var (
	codeLabel   = label{"code", "HTTP status, `<error>` (no answer), or `other` (no HTTP status)"}
	methodLabel = label{"method", "HTTP methods"}
	leaseLabel  = label{"name", "`evenkeel`, `evenkeel-dry-run`"}
)

type clientMetrics struct {
	requests, retries *prometheus.CounterVec
	forbidden         *forbiddenRequests
	seconds           *prometheus.HistogramVec
	leader            leaderMetrics
}

// ObserveClients registers the metrics of client-go. client-go reports to one receiver per process, so only the first
// call in a process has an effect on what is counted.
func (m *Metrics) ObserveClients() {
	c := newClientMetrics(m.Registry, m.forbidden)
	m.ofProcess = append(m.ofProcess, c.leader.status, c.leader.slowPath)
	clientmetrics.Register(clientmetrics.RegisterOpts{RequestResult: c, RequestRetry: c, RequestLatency: c})
	leaderelection.SetProvider(c.leader)
}

func newClientMetrics(r prometheus.Registerer, f *forbiddenRequests) *clientMetrics {
	c := &clientMetrics{forbidden: f, requests: defRequests.newCounters(r), retries: defRetries.newCounters(r), seconds: defRequestSeconds.newHistograms(r),
		leader: leaderMetrics{defLeaderStatus.newGauges(r).vec, defSlowPath.newCounters(r)}}
	for _, method := range forbiddenMethods {
		c.requests.WithLabelValues(strconv.Itoa(http.StatusForbidden), method) // so that the first refusal is an increase
	}
	return c
}

// Increment implements clientmetrics.ResultMetric.
func (c *clientMetrics) Increment(_ context.Context, code, method, _ string) {
	c.requests.WithLabelValues(boundedCode(code), boundedMethod(method)).Inc()
	if code == strconv.Itoa(http.StatusForbidden) {
		c.forbidden.add(boundedMethod(method))
	}
}

// IncrementRetry implements clientmetrics.RetryMetric.
func (c *clientMetrics) IncrementRetry(_ context.Context, code, method, _ string) {
	c.retries.WithLabelValues(boundedCode(code), boundedMethod(method)).Inc()
}

// Observe implements clientmetrics.LatencyMetric.
func (c *clientMetrics) Observe(_ context.Context, verb string, _ url.URL, latency time.Duration) {
	c.seconds.WithLabelValues(boundedMethod(verb)).Observe(latency.Seconds())
}

// boundedCode keeps the codes of HTTP, and the text that client-go uses if there was no answer.
func boundedCode(code string) string {
	if n, err := strconv.Atoi(code); code == "<error>" || err == nil && http.StatusText(n) != "" {
		return code
	}
	return "other"
}

func boundedMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
		return method
	}
	return "other"
}

// leaderMetrics implements leaderelection.MetricsProvider and leaderelection.LeaderMetric.
type leaderMetrics struct {
	status   *prometheus.GaugeVec
	slowPath *prometheus.CounterVec
}

// NewLeaderMetric implements leaderelection.MetricsProvider.
func (l leaderMetrics) NewLeaderMetric() leaderelection.LeaderMetric { return l }

// On implements leaderelection.LeaderMetric.
func (l leaderMetrics) On(name string) { l.status.WithLabelValues(name).Set(1) }

// Off implements leaderelection.LeaderMetric.
func (l leaderMetrics) Off(name string) { l.status.WithLabelValues(name).Set(0) }

// SlowpathExercised implements leaderelection.LeaderMetric.
func (l leaderMetrics) SlowpathExercised(name string) { l.slowPath.WithLabelValues(name).Inc() }
