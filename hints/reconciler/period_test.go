package reconciler_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
	"github.com/evenkeel-project/evenkeel/usage/metricsserver"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

const (
	manyNodes   = 5_000
	podsPerNode = 20
	everyPeriod = 30 * time.Second
)

// largeCluster has 5,000 nodes of 4 cores with 20 pods each. Every fifth node uses 90 % of its CPU.
type largeCluster struct {
	nodes []*corev1.Node
	index map[string]int
	pods  map[string]window.PodPlace
	// answers returns the server's next answer for a request. The field asked counts the requests.
	answers atomic.Pointer[func(r *http.Request) (contentType string, body []byte)]
	asked   atomic.Int32
	patched int
}

func newLargeCluster() *largeCluster {
	m := &largeCluster{index: map[string]int{}, pods: map[string]window.PodPlace{}}
	has := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	for i := range manyNodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), UID: "u", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
			Labels: map[string]string{"kubernetes.io/hostname": nodeName(i)}},
			Status: corev1.NodeStatus{Capacity: has, Allocatable: has}}
		for j := range 20 {
			n.Labels[fmt.Sprint("example.com/label-", j)] = "x"
		}
		m.nodes, m.index[n.Name] = append(m.nodes, n), i
		for j := range podsPerNode {
			m.pods["shop/"+podName(i, j)] = window.PodPlace{Node: n.Name, UID: fmt.Sprint(i, "-", j), Created: noon.Add(-time.Hour)}
		}
	}
	return m
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d.example.com", i) }

func podName(i, j int) string { return fmt.Sprintf("service-%d-7d9f8b6c5-x%05d", i, i*podsPerNode+j) }

func usedMilliCPU(i int) int {
	if i%5 == 0 {
		return 3600
	}
	return 1500
}

// UsageNodes builds a new list for every sample, as the program does.
func (m *largeCluster) UsageNodes() []usage.Node {
	out := make([]usage.Node, 0, len(m.nodes))
	for _, n := range m.nodes {
		out = append(out, usage.Node{Name: n.Name, UID: string(n.UID), Created: n.CreationTimestamp.Time,
			Hostname: n.Labels["kubernetes.io/hostname"],
			Capacity: cluster.ResourcesOf(n.Status.Capacity), Allocatable: cluster.ResourcesOf(n.Status.Allocatable)})
	}
	return out
}

func (m *largeCluster) PodPlace(pod string) (window.PodPlace, bool) {
	p, ok := m.pods[pod]
	return p, ok
}

// Edit applies the edits at once, and the watch shows them immediately.
func (m *largeCluster) Edit(_ context.Context, list []writer.Edit) []writer.Result {
	var out []writer.Result
	for _, e := range list {
		m.nodes[m.index[e.Node]] = e.Change(e.Observed)
		m.patched++
		out = append(out, writer.Result{Node: e.Node, Written: true})
	}
	return out
}

func (m *largeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	contentType, body := (*m.answers.Load())(r)
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body)
}

func (m *largeCluster) RecordAttempt(monitor.Attempt) {}

// answerAsMetricsServer makes the server answer with measurements of the given time.
func (m *largeCluster) answerAsMetricsServer(t *testing.T, at time.Time) {
	quantities := func(milliCPU, mebi int) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: *resource.NewScaledQuantity(int64(milliCPU)*1_000_000+1, resource.Nano),
			corev1.ResourceMemory: *resource.NewQuantity(int64(mebi)<<20, resource.BinarySI)}
	}
	var nodes v1beta1.NodeMetricsList
	var pods v1beta1.PodMetricsList
	stamp, over := metav1.NewTime(at), metav1.Duration{Duration: 15 * time.Second}
	for i := range manyNodes {
		nodes.Items = append(nodes.Items, v1beta1.NodeMetrics{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}, Timestamp: stamp, Window: over,
			Usage: quantities(usedMilliCPU(i), 4000)})
		for j := range podsPerNode {
			pods.Items = append(pods.Items, v1beta1.PodMetrics{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: podName(i, j),
					Labels: map[string]string{"app.kubernetes.io/name": "service", "app.kubernetes.io/instance": "service-1",
						"pod-template-hash": "7d9f8b6c5", "team": "shop"}},
				Timestamp: stamp, Window: over, Containers: []v1beta1.ContainerMetrics{{Name: "main",
					Usage: quantities(usedMilliCPU(i)/podsPerNode, 150)}, {Name: "proxy", Usage: quantities(5, 20)}}})
		}
	}
	ofNodes, ofPods := encodeProtobuf(t, &nodes), encodeProtobuf(t, &pods)
	answer := func(r *http.Request) (string, []byte) {
		if strings.HasSuffix(r.URL.Path, "/nodes") {
			return runtime.ContentTypeProtobuf, ofNodes
		}
		return runtime.ContentTypeProtobuf, ofPods
	}
	m.answers.Store(&answer)
}

// encodeProtobuf encodes a list as an API server does.
func encodeProtobuf(t *testing.T, list runtime.Object) []byte {
	scheme := runtime.NewScheme()
	must.Succeed(t, v1beta1.AddToScheme(scheme))
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	b := must.Get(runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1beta1.SchemeGroupVersion), list))(t)
	return b
}

// answerAsPrometheus makes the server answer the queries of the kubelet preset.
func (m *largeCluster) answerAsPrometheus(_ *testing.T, at time.Time) {
	vector := func(series func(each func(labels string, v float64))) []byte {
		var b bytes.Buffer
		b.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
		comma := ""
		series(func(labels string, v float64) {
			fmt.Fprintf(&b, `%s{"metric":{%s},"value":[%d.125,"%v"]}`, comma, labels, at.Unix(), v)
			comma = ","
		})
		b.WriteString(`]}}`)
		return b.Bytes()
	}
	ofNodes := func(v func(i int) float64) []byte {
		return vector(func(each func(string, float64)) {
			for i := range manyNodes {
				each(fmt.Sprintf(`"instance":"%s:10250"`, nodeName(i)), v(i))
			}
		})
	}
	ofPods := func(v func(i int) float64) []byte {
		return vector(func(each func(string, float64)) {
			for i := range manyNodes {
				for j := range podsPerNode {
					each(fmt.Sprintf(`"namespace":"shop","pod":"%s"`, podName(i, j)), v(i))
				}
			}
		})
	}
	times := ofNodes(func(int) float64 { return float64(at.Unix()) })
	nodeCPU, nodeMemory := ofNodes(func(i int) float64 { return float64(usedMilliCPU(i)) / 1000 }),
		ofNodes(func(int) float64 { return 4000 << 20 })
	podCPU, podMemory := ofPods(func(i int) float64 { return float64(usedMilliCPU(i))/1000/podsPerNode + 1e-7 }),
		ofPods(func(int) float64 { return 170 << 20 })
	answer := func(r *http.Request) (string, []byte) {
		q, body := r.FormValue("query"), nodeMemory
		switch {
		case strings.Contains(q, "timestamp("):
			body = times
		case strings.Contains(q, "pod_cpu_usage"):
			body = podCPU
		case strings.Contains(q, "pod_memory"):
			body = podMemory
		case strings.Contains(q, "node_cpu_usage"):
			body = nodeCPU
		}
		return "application/json", body
	}
	m.answers.Store(&answer)
}

// TestOnePeriodOfALargeCluster measures the CPU time of one sampling period with 5,000 nodes and 100,000 pods if
// nothing changes. The time includes queries, parsing, windows, hint decisions and the server, which runs in this
// process. The test uses the best of three periods after the first samples.
func TestOnePeriodOfALargeCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short, because it generates 50 MB of metrics five times; `make test-unit` runs it")
	}
	for _, c := range []struct {
		name     string
		measure  func(m *largeCluster, t *testing.T, at time.Time)
		source   func(url string, now func() time.Time) (usage.Source, error)
		requests int32 // requests to the API server for metricsServer, to Prometheus for prometheus
	}{
		{"metricsServer", (*largeCluster).answerAsMetricsServer, func(url string, now func() time.Time) (usage.Source, error) {
			return metricsserver.New(&rest.Config{Host: url}, metricsserver.Options{Timeout: time.Minute, MaxAge: 3 * time.Minute, Now: now})
		}, 2},
		{"prometheus", (*largeCluster).answerAsPrometheus, func(url string, now func() time.Time) (usage.Source, error) {
			client, err := fetch.New(fetch.Options{})
			if err != nil {
				return nil, err
			}
			return prometheus.New(prometheus.Options{URL: url, Preset: prometheus.Kubelet, RateWindow: 2 * time.Minute, NodeLabel: "instance",
				Timeout: time.Minute, MaxAge: 3 * time.Minute, Client: client, Now: now})
		}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, k := newLargeCluster(), testclock.NewFakeClock(noon)
			server := httptest.NewServer(m)
			defer server.Close()
			source := must.Get(c.source(server.URL, k.Now))(t)
			rules := []pressure.Rule{{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7, MinSamples: 2},
				{Name: "memory", Resource: "memory", Enter: 0.9, Leave: 0.8, MinSamples: 2}}
			o := window.Options{Source: c.name, Statistic: window.P90, Window: 5 * time.Minute, KeepNodeSamples: 15 * time.Minute,
				MaxAge: 3 * time.Minute, Interval: everyPeriod}
			for _, r := range rules {
				o.Watches = append(o.Watches, window.LevelWatch{Name: r.WatchName(), Resource: r.Resource, Enter: r.Enter, Leave: r.Leave,
					For: r.MinSamples})
			}
			log := slog.New(slog.NewTextHandler(io.Discard, nil))
			mon := monitor.New(o, withoutHistory{source}, m, k, log, m)
			keep := reconciler.Reconciler{Nodes: func() []*corev1.Node { return m.nodes }, Usage: mon.NodeUsage, Writer: m, Clock: k, Log: log}
			keep.Configure(reconciler.Options{Options: pressure.Options{Label: "status=presure", MaxHintedFrac: 0.34, TTL: time.Hour, Rules: rules}})
			best := math.Inf(1)
			for period := range 5 {
				k.SetTime(noon.Add(time.Duration(period) * everyPeriod))
				c.measure(m, t, k.Now().Add(-5*time.Second))
				m.asked.Store(0)
				m.patched = 0
				goruntime.GC()
				begun := cputime.Used(t)
				mon.SampleOnce(t.Context())
				keep.Reconcile(t.Context())
				spent := (cputime.Used(t) - begun).Seconds()
				want := 0
				if period == 1 {
					want = manyNodes / 5
				}
				if m.asked.Load() != c.requests || m.patched != want {
					t.Fatalf("period %d: got %d requests and %d patches, want %d and %d; problems %v", period, m.asked.Load(), m.patched, c.requests,
						want, mon.NodeUsage().Problems)
				}
				if period >= 2 {
					best = min(best, spent)
				}
			}
			if u := mon.Usage(); len(u.Nodes) != manyNodes || len(u.Pods) != manyNodes*podsPerNode || u.Samples != 5 || u.Pods[0].Used["cpu"] == 0 {
				t.Fatalf("got %d nodes, %d pods, %d samples: %v", len(u.Nodes), len(u.Pods), u.Samples, u.Problems)
			}
			t.Logf("%d requests, 0 patches, %.2f s of CPU", c.requests, best)
			if best > 2 {
				t.Errorf("got %.2f s of CPU, want less than 2", best)
			}
		})
	}
}

// withoutHistory is a source without history, since this test needs only current measurements.
type withoutHistory struct{ usage.Source }
