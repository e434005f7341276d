package placement

import (
	"fmt"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/loadwatcher"
	loadwindow "github.com/evenkeel-project/evenkeel/usage/window"
	"github.com/evenkeel-project/evenkeel/web"
)

// servedWindows serves usage windows as a load-watcher does.
type servedWindows struct{ *loadwindow.Windows }

func (servedWindows) Enabled() bool { return true }

func (servedWindows) Source() string { return "metricsServer" }

func (s servedWindows) Loads() ([]loadwindow.NodeLoads, time.Duration, time.Time) {
	return s.Windows.Loads(measurementTime, 15*time.Minute), 15 * time.Minute, measurementTime
}

// TestScoresAreThoseOfWhatIsServed checks that trimaran's formula gives the model's scores for the
// usage that GET /watcher returns. Recently bound pods are included.
func TestScoresAreThoseOfWhatIsServed(t *testing.T) {
	windows := loadwindow.New(loadwindow.Options{Source: "metricsServer", Statistic: loadwindow.Mean, Window: 15 * time.Minute, MaxAge: 3 * time.Minute, Interval: time.Minute})
	b := newSnapshotBuilder()
	limit := func(milliCPU string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse(milliCPU)}
		}
	}
	var nodes []usage.Node
	for i := range 8 {
		name := string(rune('a' + i))
		b.node(name, "z"+name, func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4")}
		})
		nodes = append(nodes, usage.Node{Name: name, Capacity: cluster.Resources{MilliCPU: 4000}, Allocatable: cluster.Resources{MilliCPU: 3800}})
	}
	for minute := range 15 {
		s := usage.Sample{Taken: measurementTime.Add(time.Duration(minute-14) * time.Minute), Nodes: map[string]usage.Reading{}}
		for i, n := range nodes[:7] { // h has no measurement
			at := s.Taken
			if n.Name == "g" {
				at = at.Add(-20 * time.Second)
			}
			s.Nodes[n.Name] = usage.Reading{At: at, Used: map[string]int64{"cpu": int64(i*600 + minute*10)}}
		}
		windows.Add(s, nodes, nil)
	}
	b.objects.Usage = windows.Usage(measurementTime)
	b.app("x", 0, limit("400m"), "a")
	b.app("y", 0, limit("700m"), "b") // bound less than 60 s before the window ends: trimaran adds its expected usage
	bound := measurementTime.Add(-30 * time.Second)
	b.pod("y-0").Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(bound)}}
	w := b.modelWithProfile(t, packingProfile())

	rec := httptest.NewRecorder()
	(&web.Server{Metrics: prometheus.NewRegistry(), Routes: web.WatcherRoutes(servedWindows{windows})}).Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/watcher", nil))
	answer := must.Get(loadwatcher.Decode(rec.Body.Bytes()))(t)
	seen := map[int64]bool{}
	for _, n := range nodes {
		unsettled := 0.0
		if n.Name == "b" && answer.Window.End-bound.Unix() < 60 {
			unsettled = 700
		}
		want := targetLoadPackingScore(answer, n.Name, 400+unsettled, 4000)
		if got := scoreOf(t, explainNode(t, w, "x-0", n.Name, true), scheduler.PackingName); got != want {
			t.Errorf("%s: score %d, trimaran computes %d", n.Name, got, want)
		}
		seen[want] = true
	}
	if len(seen) < 7 || !seen[0] {
		t.Errorf("the scores %s differ too little for this test", fmt.Sprint(seen))
	}
}

// targetLoadPackingScore is the score of trimaran's TargetLoadPacking. The score uses the last cpu
// metric that is an average or the latest value.
func targetLoadPackingScore(a loadwatcher.Answer, node string, milliCPU, capacity float64) int64 {
	percent, found := 0.0, false
	for _, m := range a.Data.Nodes[node].Metrics {
		if m.Type == loadwatcher.CPU && (m.Operator == loadwatcher.Average || m.Operator == loadwatcher.Latest) {
			percent, found = m.Value, true
		}
	}
	p, target := 100*(percent/100*capacity+milliCPU)/capacity, 40.0
	switch {
	case !found || p > 100:
		return 0
	case p > target:
		return int64(math.Round(target * (100 - p) / (100 - target)))
	}
	return int64(math.Round((100-target)*p/target + target))
}
