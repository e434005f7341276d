package loadwatcher

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newTestSource(t *testing.T, h http.HandlerFunc) *Source {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	client := must.Get(fetch.New(fetch.Options{}))(t)
	out := must.Get(New(Options{URL: s.URL + "/", Timeout: 5 * time.Second, MaxAge: 3 * time.Minute, Client: client,
		Now: func() time.Time { return noon }}))(t)
	return out
}

func threeNodes() []usage.Node {
	var out []usage.Node
	for _, i := range []string{"1", "2", "3"} {
		out = append(out, usage.Node{Name: "n" + i, InternalIPs: []string{"10.0.0." + i},
			Capacity: cluster.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30}})
	}
	return out
}

func nodeMetrics(m ...Metric) NodeMetrics { return NodeMetrics{Metrics: m} }

func encodedAnswer(t *testing.T, end time.Time, of map[string]NodeMetrics) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, Encode(&b, Answer{Window: Window{"15m", end.Add(-15 * time.Minute).Unix(), end.Unix()}, Data: Data{of}}))
	return b.String()
}

func TestPercentagesBecomeAmounts(t *testing.T) {
	text := encodedAnswer(t, noon.Add(-time.Minute), map[string]NodeMetrics{
		"n1": nodeMetrics(Metric{Type: CPU, Operator: Latest, Value: 12.5}, Metric{Type: Memory, Operator: Latest, Value: 50}),
		"10.0.0.2:9100": nodeMetrics(Metric{Type: CPU, Operator: Average, Value: 90}, Metric{Type: CPU, Operator: Latest, Value: 25},
			Metric{Type: CPU, Operator: Deviation, Value: 70}, Metric{Type: "Energy", Operator: Average, Value: 3}),
		"n3": nodeMetrics(Metric{Type: CPU, Operator: Average, Value: 25}, Metric{Type: CPU, Operator: Average, Value: 25}),
		"n9": nodeMetrics(Metric{Type: CPU, Operator: Average, Value: 25}),
	})
	s := newTestSource(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/watcher" || r.URL.RawQuery != "" {
			t.Errorf("asked for %s", r.URL)
		}
		_, _ = w.Write([]byte(text))
	})
	got := must.Get(s.Sample(t.Context(), threeNodes()))(t)
	at := noon.Add(-time.Minute)
	want := usage.Sample{Taken: noon, Pods: map[string]usage.Reading{}, Nodes: map[string]usage.Reading{
		"n1": {At: at, Used: map[string]int64{"cpu": 500, "memory": 4 << 30}},
		"n2": {At: at, Used: map[string]int64{"cpu": 1000}},
	}, Problems: []usage.Problem{
		{Kind: usage.Ambiguous, Detail: "cpu: more than one value for n3"},
		{Kind: usage.Ambiguous, Detail: "cpu: two values of AVG for n3"},
		{Kind: usage.Missing, Detail: "memory: no value for n2, n3"},
		{Kind: usage.UnknownNode, Detail: "cpu: unknown node name n9"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBadAnswers(t *testing.T) {
	good := encodedAnswer(t, noon, map[string]NodeMetrics{"n1": nodeMetrics(Metric{Type: CPU, Operator: Latest, Value: 12.5})})
	for name, c := range map[string]struct {
		status int
		body   string
		want   usage.Problem
	}{
		"no data":      {500, "", usage.Problem{Kind: usage.Empty, Detail: "the load-watcher has no data (it answers 500)"}},
		"unknown host": {404, "", usage.Problem{Kind: usage.Empty, Detail: "the load-watcher has no data (it answers 404)"}},
		"down":         {503, "", usage.Problem{Kind: usage.Unreachable, Detail: "the server answers 503"}},
		"not allowed": {401, "", usage.Problem{Kind: usage.BadAnswer,
			Detail: "the server answers 401; the server requires authentication: set tokenFile to a file with a valid token"}},
		"a page": {200, "<html>", usage.Problem{Kind: usage.BadAnswer,
			Detail: "the answer is a web page; is this the address of a load-watcher?"}},
		"half": {200, good[:60], usage.Problem{Kind: usage.BadAnswer,
			Detail: "reading a load-watcher answer: unexpected end of JSON input"}},
		"a NaN": {200, strings.Replace(good, "12.5", "NaN", 1),
			usage.Problem{Kind: usage.BadAnswer, Detail: "reading a load-watcher answer: invalid character 'N' looking for beginning of value"}},
		"no nodes": {200, encodedAnswer(t, noon, nil), usage.Problem{Kind: usage.Empty, Detail: "cpu: the answer has no values"}},
		"old": {200, encodedAnswer(t, noon.Add(-time.Hour),
			map[string]NodeMetrics{"n1": nodeMetrics(Metric{Type: CPU, Operator: Latest, Value: 12.5})}),
			usage.Problem{Kind: usage.Stale, Detail: "cpu: measured more than 3m0s ago for n1"}},
		"without time": {200, strings.ReplaceAll(good, `"end":`, `"until":`),
			usage.Problem{Kind: usage.Stale, Detail: "cpu: measured more than 3m0s ago for n1"}},
		"negative": {200, strings.Replace(good, "12.5", "-12.5", 1), usage.Problem{Kind: usage.Implausible, Detail: "cpu: negative for n1"}},
		"no percent": {200, strings.Replace(good, "12.5", "1250", 1),
			usage.Problem{Kind: usage.Implausible,
				Detail: "cpu: 12.5 for n1 is not a ratio (want 0..1; is it a percentage?); all 1 values are rejected"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newTestSource(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}).Sample(t.Context(), threeNodes())
			found := false
			for _, p := range got.Problems {
				found = found || p == c.want
			}
			if err == nil || !found || len(got.Nodes) > 0 {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	done := make(chan struct{})
	s := newTestSource(t, func(http.ResponseWriter, *http.Request) { <-done })
	defer close(done)
	s.opts.Timeout = 50 * time.Millisecond
	if _, err := s.Sample(t.Context(), threeNodes()); err == nil || err.Error() != "asking the load-watcher: no answer within 50ms" {
		t.Errorf("%v", err)
	}
	for _, u := range []string{"", "watcher:2020", "http://me:hunter2@\x00"} {
		if _, err := New(Options{URL: u}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", u, err)
		}
	}
}
