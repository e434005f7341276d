package load

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// stallAnnotation is the ratio of the time in which a pod waits for cpu.
const stallAnnotation = "lab/stall"

// stallApps returns apps with two pods on n1 that each stall 40 % of the time.
func stallApps() []seed.App {
	return []seed.App{
		{Name: "waits", MilliCPU: 100, MemoryMi: 64, Nodes: repeatNode("n1", 2), GraceSeconds: 1,
			Annotations: map[string]string{stallAnnotation: "0.4"}},
		{Name: "works", MilliCPU: 100, MemoryMi: 64, Nodes: []string{"n1", "n2", "n3", "n4"}, GraceSeconds: 1,
			Annotations: map[string]string{stallAnnotation: "0.05"}},
	}
}

// pressureExporter serves the counters of pressure stall information (PSI) of kubelets and of node_exporter for the
// pods of a namespace. Pods wait independently of each other, so the ratio of a node is less than the sum of its pods.
type pressureExporter struct {
	ns       string
	mu       sync.Mutex
	last     time.Time
	counters map[string]float64 // by metric with its labels
}

// startPressureExporter starts an exporter that Prometheus scrapes until the test ends.
func startPressureExporter(t *testing.T, ns string) {
	t.Helper()
	e := &pressureExporter{ns: ns, last: time.Now(), counters: map[string]float64{}}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	must.Succeed(t, stack.ScrapeExporter(strings.TrimPrefix(server.URL, "http://"), nil))
}

func (e *pressureExporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pods, err := stack.Client.CoreV1().Pods(e.ns).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	passed := time.Since(e.last).Seconds()
	e.last = e.last.Add(time.Duration(passed * float64(time.Second)))
	here, idle := map[string]float64{}, map[string]float64{}
	for i := 1; i <= nodeCount; i++ {
		idle[fmt.Sprintf("n%d", i)] = 1
	}
	for _, p := range pods.Items {
		ratio, err := strconv.ParseFloat(p.Annotations[stallAnnotation], 64)
		if err != nil || p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
			continue
		}
		idle[p.Spec.NodeName] *= 1 - ratio
		here[fmt.Sprintf("container_pressure_cpu_waiting_seconds_total{namespace=%q,pod=%q,container=\"c\",instance=%q}", e.ns, p.Name,
			p.Spec.NodeName)] = ratio
	}
	for node, ratio := range idle {
		here[fmt.Sprintf("node_pressure_cpu_waiting_seconds_total{instance=%q}", node)] = 1 - ratio
	}
	maps.DeleteFunc(e.counters, func(name string, _ float64) bool { _, there := here[name]; return !there })
	for _, name := range slices.Sorted(maps.Keys(here)) {
		e.counters[name] += here[name] * passed
		fmt.Fprintf(w, "%s %f\n", name, e.counters[name])
	}
}

// TestPressureOfPods measures the PSI of nodes and pods. n1 waits 64 % of the time. By its metrics, one of the two pods
// that wait most is enough. Without a query about pods, none may leave.
func TestPressureOfPods(t *testing.T) {
	ns := seedApps(t, stallApps())
	startPressureExporter(t, ns)
	const ofNodes = `rate(node_pressure_cpu_waiting_seconds_total[20s])`
	const ofPods = `sum by (namespace, pod) (rate(container_pressure_cpu_waiting_seconds_total[20s]))`
	waitForStall := func(n1 float64, pods int) {
		t.Helper()
		pollUntil(t, fmt.Sprintf("n1 waits %v of the time, and %d pods are measured", n1, pods), func() (bool, error) {
			nodes, err := stack.Query(t.Context(), ofNodes)
			if err != nil {
				return false, err
			}
			count, err := stack.Query(t.Context(), "count("+ofPods+")")
			return near(nodes["n1"], n1) && count[""] == float64(pods), err
		})
	}
	waitForStall(0.658, 6)
	config := func(queries string) string {
		return configFile(t, fmt.Sprintf("load: {source: prometheus, interval: %s, statistic: latest, window: 1m, maxAge: 1m, prometheus: {url: %q, "+
			"preset: none, rateWindow: 20s, queries: {cpu-stall: %q}%s}}\nlimits: {perNamespace: unlimited}\n"+
			"strategies: {stalled: {type: NodeLoad, schedule: \"0 * * * *\", args: {basis: load, target: {cpu-stall: 0.50}}}}\n",
			interval, stack.Prometheus, ofNodes, queries))
	}
	unmeasured := runSinglePass(t, ns, config(""))
	if n := unmeasured.NotMoved()["UsageUnknown"]; len(unmeasured.Spec.Moves) > 0 || n != 3 {
		t.Errorf("without a query about pods: %d moves, %d pods with UsageUnknown; want none and 3", len(unmeasured.Spec.Moves), n)
	}
	measured := config(fmt.Sprintf(", podQueries: {cpu-stall: %q}", ofPods))
	first := runSinglePass(t, ns, measured)
	if len(first.Spec.Moves) != 1 || first.Spec.Minimum.Evictions != 1 || len(first.Outcomes()) != 1 || first.Outcomes()[0].Outcome != "evicted" ||
		!strings.HasPrefix(first.Outcomes()[0].Pod.Name, "waits-") {
		t.Errorf("moves %v, lower bound %d, outcomes %v; want one pod of waits that is evicted", first.Spec.Moves, first.Spec.Minimum.Evictions,
			first.Outcomes())
	}
	if on := podsByNode(t, ns, "waits"); on["n1"] != 1 {
		t.Errorf("the pods of waits are on %v, want one on n1", on)
	}
	waitForStall(0.43, 6)
	if second := runSinglePass(t, ns, measured); len(second.Spec.Moves) > 0 {
		t.Errorf("the second pass plans %v, want no move", second.Spec.Moves)
	}
	granted, refused := auditedEvictions(t, ns)
	if len(granted) != 1 || refused != 0 {
		t.Errorf("evictions %q, %d refused; want one and none", granted, refused)
	}
}

// near reports whether a ratio differs by less than 0.03.
func near(a, b float64) bool { return a-b < 0.03 && b-a < 0.03 }
