package prometheus

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

var _ usage.HistorySource = (*Source)(nil)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// twoNodes returns two nodes with 4 CPUs and 8 GiB each.
func twoNodes() []usage.Node {
	var out []usage.Node
	for _, i := range []string{"1", "2"} {
		out = append(out, usage.Node{Name: "n" + i, InternalIPs: []string{"10.0.0." + i},
			Capacity: cluster.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30}})
	}
	return out
}

// fakePrometheus answers each query by the first part that it contains.
type fakePrometheus []struct{ part, result string }

func (a fakePrometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, x := range a {
		if strings.Contains(r.FormValue("query"), x.part) {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, x.result)
			return
		}
	}
	fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
}

// vectorJSON encodes values by instance, measured or evaluated at noon.
func vectorJSON(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, fmt.Sprintf(`{"metric":{"instance":%q},"value":[%d,%q]}`, pairs[i], noon.Unix(), pairs[i+1]))
	}
	return strings.Join(out, ",")
}

func unixBefore(d time.Duration) string { return strconv.FormatInt(noon.Add(-d).Unix(), 10) }

func newTestSource(t testing.TB, h http.Handler, change func(*Options)) *Source {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	client := must.Get(fetch.New(fetch.Options{MaxBytes: 1 << 20}))(t)
	o := Options{URL: s.URL + "/", Preset: NodeExporter, RateWindow: 2 * time.Minute, NodeLabel: "instance",
		Timeout: 5 * time.Second, MaxAge: 3 * time.Minute,
		PodQueries: map[string]string{"cpu": "", "memory": ""}, Client: client, Now: func() time.Time { return noon }}
	if change != nil {
		change(&o)
	}
	out := must.Get(New(o))(t)
	return out
}

func TestNodesAreTakenFromRatios(t *testing.T) {
	s := newTestSource(t, fakePrometheus{
		{"timestamp(", vectorJSON("10.0.0.1:9100", unixBefore(10*time.Second), "n2", unixBefore(20*time.Second))},
		{"node_cpu_seconds_total", vectorJSON("10.0.0.1:9100", "0.5", "n2", "0.25")},
		{"node_memory_MemAvailable", vectorJSON("10.0.0.1:9100", "0.125", "n2", "1")},
	}, nil)
	got := must.Get(s.Sample(t.Context(), twoNodes()))(t)
	want := usage.Sample{Taken: noon, PodDelay: 3 * time.Minute, Pods: map[string]usage.Reading{}, Nodes: map[string]usage.Reading{
		"n1": {At: noon.Add(-10 * time.Second), Used: map[string]int64{"cpu": 2000, "memory": 1 << 30}},
		"n2": {At: noon.Add(-20 * time.Second), Used: map[string]int64{"cpu": 1000, "memory": 8 << 30}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPodsAndAvailableMemory(t *testing.T) {
	pods := func(a, b string) string {
		return fmt.Sprintf(`{"metric":{"namespace":"shop","pod":"a"},"value":[%d,%q]},
			{"metric":{"namespace":"shop","pod":"b"},"value":[%d,%q]}`, noon.Unix(), a, noon.Unix(), b)
	}
	s := newTestSource(t, fakePrometheus{
		{"timestamp(", vectorJSON("n1", unixBefore(0), "n2", unixBefore(0))},
		{"pod_cpu", pods("0.1", "NaN")},
		{"pod_memory", pods("1024", "2048")},
		{"node_cpu_usage", vectorJSON("n1", "1.5", "n2", "0")},
		{"node_memory_working", vectorJSON("n1", strconv.Itoa(7<<30), "n2", "0")},
	}, func(o *Options) { o.Preset, o.PodQueries = Kubelet, nil })
	got := must.Get(s.Sample(t.Context(), twoNodes()))(t)
	if d := cmp.Diff(map[string]int64{"cpu": 1500, "memory": 7 << 30, cluster.MemoryAvailable: 1 << 30}, got.Nodes["n1"].Used); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]usage.Reading{"shop/a": {At: noon, Used: map[string]int64{"cpu": 100, "memory": 1024}},
		"shop/b": {At: noon, Used: map[string]int64{"memory": 2048}}}, got.Pods); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]usage.Problem{{Kind: usage.NotANumber, Detail: "cpu of pods: not a finite number for shop/b"}}, got.Problems); d != "" {
		t.Error(d)
	}
}

// TestPushedValuesAreAsOldAsTheirPush checks the age of pushed values. A Pushgateway serves pushed values forever.
func TestPushedValuesAreAsOldAsTheirPush(t *testing.T) {
	h := fakePrometheus{
		{"push_time_seconds and on (job, instance, instance) k8_node", vectorJSON("n1", unixBefore(10*time.Second), "n2", unixBefore(time.Hour))},
		{"k8_node_cgroups_mem_available", vectorJSON("n1", strconv.Itoa(812<<20), "n2", strconv.Itoa(4<<30))},
		{"push_time_seconds", ""},
		{"disk", vectorJSON("n1", "0.5", "n2", "0.5")},
	}
	s := newTestSource(t, h, func(o *Options) {
		o.Preset = None
		o.Queries = map[string]string{cluster.MemoryAvailable: "k8_node_cgroups_mem_available * 1048576", "disk": "disk"}
		o.Rules = map[string]string{"mem": "k8_node_cgroups_mem_available"}
	})
	got := must.Get(s.Sample(t.Context(), twoNodes()))(t)
	want := map[string]usage.Reading{
		"n1": {At: noon.Add(-10 * time.Second), Times: map[string]time.Time{"disk": noon},
			Used: map[string]int64{cluster.MemoryAvailable: 812 << 20, "disk": 500000, "rule:mem": 812 << 20 * 1e6}},
		"n2": {At: noon, Used: map[string]int64{"disk": 500000}},
	}
	if d := cmp.Diff(want, got.Nodes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]usage.Problem{{Kind: usage.Stale, Detail: "memory.available: measured more than 3m0s ago for n2"},
		{Kind: usage.Stale, Detail: "rule:mem: measured more than 3m0s ago for n2"}}, got.Problems); d != "" {
		t.Error(d)
	}
}

func TestFreshnessOfTheUsersOwn(t *testing.T) {
	s := newTestSource(t, fakePrometheus{
		{"when", vectorJSON("n1", unixBefore(7*time.Second)) + "," + vectorJSON("n1", unixBefore(8*time.Second), "n3", "NaN")},
		{"busy", vectorJSON("n1", "0.5", "n2", "0.5")},
	}, func(o *Options) {
		o.Preset, o.Queries, o.Freshness = None, map[string]string{"cpu": "busy"}, map[string]string{"cpu": "when"}
	})
	got := must.Get(s.Sample(t.Context(), twoNodes()))(t)
	if d := cmp.Diff(map[string]usage.Reading{"n1": {At: noon.Add(-8 * time.Second), Used: map[string]int64{"cpu": 2000}}},
		got.Nodes); d != "" {
		t.Error(d)
	}
	want := []usage.Problem{{Kind: usage.Implausible, Detail: "cpu: invalid measurement time for n3"},
		{Kind: usage.Missing, Detail: "cpu: no value for n2"}, {Kind: usage.Stale, Detail: "cpu: no measurement time for n2"}}
	if d := cmp.Diff(want, got.Problems); d != "" {
		t.Error(d)
	}
}

// TestBadAnswers covers answers that a Prometheus or a proxy sends only in rare cases.
func TestBadAnswers(t *testing.T) {
	good := `{"status":"success","data":{"resultType":"vector","result":[` + vectorJSON("n1", "0.5", "n2", "0.5") + `]}}`
	for name, c := range map[string]struct {
		status int
		body   string
		kind   usage.ProblemKind
		detail string // contains
	}{
		"NaN":          {200, strings.ReplaceAll(good, "0.5", "NaN"), usage.NotANumber, "cpu: not a finite number for n1, n2"},
		"infinite":     {200, strings.ReplaceAll(good, "0.5", "+Inf"), usage.NotANumber, "cpu: not a finite number for n1, n2"},
		"a node twice": {200, strings.ReplaceAll(good, "n2", "10.0.0.1:1"), usage.Ambiguous, "cpu: more than one value for n1"},
		"percent":      {200, strings.ReplaceAll(good, "0.5", "50"), usage.Implausible, "is it a percentage?"},
		"negative":     {200, strings.ReplaceAll(good, "0.5", "-0.5"), usage.Implausible, "cpu: negative for n1, n2"},
		"unknown":      {200, strings.ReplaceAll(good, "n2", "db:9100"), usage.UnknownNode, "cpu: unknown node name db:9100"},
		"other labels": {200, strings.ReplaceAll(good, "instance", "host"), usage.BadAnswer, "cpu: no value has the label instance"},
		"a time far off": {200, strings.ReplaceAll(good, strconv.FormatInt(noon.Unix(), 10), "1000000000000000000"),
			usage.BadAnswer, "1e+18 is not a time"},
		"an old answer": {200, strings.ReplaceAll(good, strconv.FormatInt(noon.Unix(), 10), unixBefore(time.Hour)), usage.Stale,
			"cpu: measured more than 3m0s ago for n1, n2"},
		"no values": {200, `{"status":"success","data":{"resultType":"vector","result":[]}}`, usage.Empty,
			"cpu: the answer has no values"},
		"nothing":      {200, "", usage.BadAnswer, "the answer is empty"},
		"half":         {200, good[:len(good)/2], usage.BadAnswer, "truncated"},
		"a login page": {200, "<html><body>login", usage.BadAnswer, "a web page"},
		"a scalar": {200, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`, usage.BadAnswer,
			"the answer is a scalar (want a vector)"},
		"a matrix": {200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`, usage.BadAnswer,
			"the answer is a matrix (want a vector)"},
		"a histogram": {200, `{"status":"success","data":{"resultType":"vector","result":[
			{"metric":{"instance":"n1"},"histogram":[1,{"count":"1","sum":"2"}]}]}}`, usage.Implausible, "cpu: a histogram for n1"},
		"warnings and values": {200, strings.Replace(good, `"data"`, `"warnings":["store down"],"data"`, 1), usage.BadAnswer,
			"the answer may be partial: store down"},
		"warnings, no values": {200, `{"status":"success","data":{"resultType":"vector","result":[]},"warnings":["store down"]}`,
			usage.BadAnswer, "the answer may be partial: store down"},
		"an error with data": {200, strings.Replace(good, `"success"`, `"error","errorType":"timeout","error":"too slow"`, 1),
			usage.BadAnswer, "the server answers 200, timeout: too slow"},
		"a bad query": {400, `{"status":"error","errorType":"bad_data","error":"parse error"}`, usage.BadAnswer,
			"the server answers 400, bad_data: parse error"},
		"data with an error": {503, good, usage.Unreachable, "the server answers 503"},
		"not allowed": {401, "Unauthorized", usage.BadAnswer,
			"the server answers 401; the server requires authentication: set tokenFile to a file with a valid token"},
		"forbidden": {403, "Forbidden", usage.BadAnswer,
			"the server answers 403; clients without credentials may not read this: set tokenFile to a file with a valid token"},
		"a tenant refused": {403, `{"status":"error","errorType":"forbidden","error":"no such tenant"}`, usage.BadAnswer,
			"the server answers 403, forbidden: no such tenant; clients without credentials may not read this: set tokenFile"},
		"another server": {404, "404 page not found", usage.BadAnswer,
			"cpu: the server answers 404; is this the address of a Prometheus, with its path prefix?"},
		"a gateway":  {502, "<html>", usage.Unreachable, "the server answers 502"},
		"no content": {204, "", usage.BadAnswer, "the answer is empty"},
		"no status":  {200, `{}`, usage.BadAnswer, `the status "" (want success)`},
		"too large":  {200, good + strings.Repeat(" ", 1<<20), usage.BadAnswer, "larger than 1 MiB"},
		"a redirect": {302, "", usage.BadAnswer, "the server answers 302, a redirect to login.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.status == 302 {
					w.Header().Set("Location", "https://login.example.com/?secret=hunter2")
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}), func(o *Options) { o.Preset, o.Queries = None, map[string]string{"cpu": "x"} })
			// The value was not pushed in any of these cases.
			s.queries[0].timeQuery = ""
			got, err := s.Sample(t.Context(), twoNodes())
			found := false
			for _, p := range got.Problems {
				found = found || p.Kind == c.kind && strings.Contains(p.Detail, c.detail)
				if strings.Contains(p.Detail, "hunter2") {
					t.Errorf("a secret: %s", p.Detail)
				}
			}
			if !found {
				t.Errorf("%v, %v; want %s %q", got.Problems, err, c.kind, c.detail)
			}
			for name, r := range got.Nodes {
				if name == "n1" && c.kind == usage.UnknownNode {
					continue // this resource was answered correctly
				}
				t.Errorf("%s: %v is used", name, r)
			}
		})
	}
}

// TestAllEmptyAnswersAreNamed checks that all empty answers are listed, so that a user can fix
// all queries at once.
func TestAllEmptyAnswersAreNamed(t *testing.T) {
	s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	}), func(o *Options) { o.Preset, o.Queries = None, map[string]string{"cpu": "x", "disk": "y"} })
	if _, err := s.Sample(t.Context(), twoNodes()); err == nil || err.Error() != "asking Prometheus: cpu, disk: the answer has no values" {
		t.Errorf("%v", err)
	}
}

// TestASlowBodyEndsAtTheDeadline serves an answer that begins at once and never ends.
func TestASlowBodyEndsAtTheDeadline(t *testing.T) {
	s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}), func(o *Options) { o.Timeout = 50 * time.Millisecond })
	got, err := s.Sample(t.Context(), twoNodes())
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") || len(got.Nodes) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDeadlines(t *testing.T) {
	done := make(chan struct{})
	s := newTestSource(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }),
		func(o *Options) { o.Timeout = 50 * time.Millisecond })
	defer close(done)
	got, err := s.Sample(t.Context(), twoNodes())
	if err == nil || err.Error() != "asking Prometheus: cpu: no answer within 50ms" || len(got.Nodes) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sample(ctx, twoNodes()); err == nil {
		t.Error("a canceled attempt was recorded")
	}
}

func TestReadOnlyProxiesAreAskedByGet(t *testing.T) {
	var posts atomic.Int32
	h := fakePrometheus{{"timestamp(", vectorJSON("n1", unixBefore(0))}, {"node_cpu", vectorJSON("n1", "0.5")}}
	s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	}), nil)
	if got, err := s.Sample(t.Context(), twoNodes()); err != nil || got.Nodes["n1"].Used["cpu"] != 2000 || posts.Load() != 3 {
		t.Errorf("%v, %v, %d posts", got, err, posts.Load())
	}
}
