package metricsserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func resourceList(cpu, memory string) corev1.ResourceList {
	out := corev1.ResourceList{}
	if cpu != "" {
		out[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		out[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return out
}

func nodeMetrics(name string, age, window time.Duration, used corev1.ResourceList) v1beta1.NodeMetrics {
	return v1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: name}, Timestamp: metav1.NewTime(noon.Add(-age)),
		Window: metav1.Duration{Duration: window}, Usage: used}
}

func podMetrics(name string, used ...corev1.ResourceList) v1beta1.PodMetrics {
	p := v1beta1.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Timestamp: metav1.NewTime(noon.Add(-20 * time.Second)), Window: metav1.Duration{Duration: 15 * time.Second}}
	for i, u := range used {
		p.Containers = append(p.Containers, v1beta1.ContainerMetrics{Name: fmt.Sprint("c", i), Usage: u})
	}
	return p
}

// encodeList encodes a list as an API server does.
func encodeList(t testing.TB, contentType string, list runtime.Object) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	codecs := serializer.NewCodecFactory(scheme)
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), contentType)
	if !ok {
		t.Fatal("no serializer for", contentType)
	}
	b := must.Get(runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1beta1.SchemeGroupVersion), list))(t)
	return b
}

// fakeMetricsAPI serves two lists and counts requests.
type fakeMetricsAPI struct {
	contentType string
	nodes, pods []byte
	requests    atomic.Int32
}

func (a *fakeMetricsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests.Add(1)
	if !strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
		http.Error(w, "asked for "+r.Header.Get("Accept"), http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	switch r.URL.Path {
	case "/apis/metrics.k8s.io/v1beta1/nodes":
		_, _ = w.Write(a.nodes)
	case "/apis/metrics.k8s.io/v1beta1/pods":
		_, _ = w.Write(a.pods)
	default:
		http.NotFound(w, r)
	}
}

func newTestSource(t testing.TB, h http.Handler) *Source {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	out := must.Get(New(&rest.Config{Host: s.URL}, Options{Timeout: 5 * time.Second, MaxAge: time.Minute, Now: func() time.Time { return noon }}))(t)
	return out
}

func testNodes(names ...string) []usage.Node {
	var out []usage.Node
	for _, n := range names {
		out = append(out, usage.Node{Name: n, Capacity: cluster.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30}})
	}
	return out
}

func TestASampleIsTwoRequests(t *testing.T) {
	ofNodes := &v1beta1.NodeMetricsList{Items: []v1beta1.NodeMetrics{
		nodeMetrics("n1", 10*time.Second, 15*time.Second, resourceList("1500000001n", "7Gi")),
		nodeMetrics("n2", 2*time.Minute, 15*time.Second, resourceList("1", "1Gi")),
		nodeMetrics("n3", 0, 2*time.Minute, resourceList("1", "1Gi")),
		nodeMetrics("n4", 0, 15*time.Second, resourceList("", "1Gi")),
		nodeMetrics("gone", 0, 15*time.Second, resourceList("1", "1Gi")),
	}}
	ofPods := &v1beta1.PodMetricsList{Items: []v1beta1.PodMetrics{
		podMetrics("a", resourceList("100m", "64Mi"), resourceList("250000n", "1Mi")),
		podMetrics("b", resourceList("100m", "64Mi"), resourceList("", "1Mi")),
		podMetrics("c"),
	}}
	for _, contentType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		a := &fakeMetricsAPI{contentType: contentType, nodes: encodeList(t, contentType, ofNodes), pods: encodeList(t, contentType, ofPods)}
		got := must.Get(newTestSource(t, a).Sample(t.Context(), testNodes("n1", "n2", "n3", "n4")))(t)
		if n := a.requests.Load(); n != 2 {
			t.Errorf("%d requests", n)
		}
		stamp := noon.Add(-10 * time.Second)
		want := usage.Sample{Taken: noon, Nodes: map[string]usage.Reading{
			"n1": {At: stamp, Used: map[string]int64{"cpu": 1500, "memory": 7 << 30, cluster.MemoryAvailable: 1 << 30}},
			"n4": {At: noon, Used: map[string]int64{"memory": 1 << 30, cluster.MemoryAvailable: 7 << 30}},
		}, Pods: map[string]usage.Reading{
			"shop/a": {At: noon.Add(-20 * time.Second), Used: map[string]int64{"cpu": 100, "memory": 65 << 20}},
			"shop/b": {At: noon.Add(-20 * time.Second), Used: map[string]int64{"memory": 65 << 20}},
		}, Problems: []usage.Problem{
			{Kind: usage.Missing, Detail: "cpu: no value for n3, n4"},
			{Kind: usage.Missing, Detail: "memory: no value for n3"},
			{Kind: usage.Stale, Detail: "cpu: measured more than 1m0s ago for n2"},
			{Kind: usage.Stale, Detail: "memory: measured more than 1m0s ago for n2"},
			{Kind: usage.Stale, Detail: "nodes: averaged over more than 1m0s for n3"},
			{Kind: usage.UnknownNode, Detail: "cpu: unknown node name gone"},
			{Kind: usage.UnknownNode, Detail: "memory: unknown node name gone"},
		}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", contentType, d)
		}
	}
}

func TestWhyThereIsNoAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   usage.Problem
	}{
		"not installed": {404, "404 page not found",
			usage.Problem{Kind: usage.Unreachable,
				Detail: "nodes: the cluster does not serve metrics.k8s.io/v1beta1; is metrics-server installed?"}},
		"not running": {503, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","code":503}`,
			usage.Problem{Kind: usage.Unreachable, Detail: "nodes: metrics.k8s.io/v1beta1 is not available; is metrics-server running?"}},
		"not allowed": {403, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"nodes.metrics.k8s.io is forbidden",
			"reason":"Forbidden","code":403}`, usage.Problem{Kind: usage.BadAnswer, Detail: "nodes: nodes.metrics.k8s.io is forbidden"}},
		"half": {200, `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[{"metadata":`,
			usage.Problem{Kind: usage.BadAnswer, Detail: "nodes: the answer cannot be read: "}},
		"another kind": {200, `{"kind":"Gadget","apiVersion":"metrics.k8s.io/v1beta1"}`,
			usage.Problem{Kind: usage.BadAnswer, Detail: "nodes: the answer cannot be read: "}},
		"no nodes": {200, `{"kind":"NodeMetricsList","apiVersion":"metrics.k8s.io/v1beta1","items":[]}`,
			usage.Problem{Kind: usage.Empty, Detail: "cpu: the answer has no values"}},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			got, err := s.Sample(t.Context(), testNodes("n1"))
			found := false
			for _, p := range got.Problems {
				found = found || p.Kind == c.want.Kind && strings.HasPrefix(p.Detail, c.want.Detail)
			}
			if err == nil || !found || len(got.Nodes) > 0 {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestNoRedirectIsFollowed checks that redirects are rejected. A redirect would send the
// account's token to another server.
func TestNoRedirectIsFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	s := newTestSource(t, http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	got, err := s.Sample(t.Context(), testNodes("n1"))
	if err == nil || len(got.Problems) == 0 || got.Problems[0].Kind != usage.BadAnswer ||
		!strings.Contains(got.Problems[0].Detail, "redirects are not followed") {
		t.Errorf("%v, %v", err, got.Problems)
	}
	if n := elsewhere.Load(); n > 0 {
		t.Errorf("%d requests followed the redirect", n)
	}
}

func TestNobodyAnswers(t *testing.T) {
	done := make(chan struct{})
	s := newTestSource(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer close(done)
	s.opts.Timeout = 50 * time.Millisecond
	got, err := s.Sample(t.Context(), testNodes("n1"))
	want := []usage.Problem{{Kind: usage.Unreachable, Detail: "nodes: no answer within 50ms"},
		{Kind: usage.Unreachable, Detail: "pods: no answer within 50ms"}}
	if d := cmp.Diff(want, got.Problems); d != "" || err == nil {
		t.Errorf("%v\n%s", err, d)
	}
}
