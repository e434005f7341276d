package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
)

// bytesPerPass is the maximum heap growth per pass. The heap size varies between passes, but
// leaking one pod or move per pass would add kilobytes.
const bytesPerPass = 512

// The test runs many passes in one process. Each pass evicts pods over HTTP and waits for replacements. The test
// compares the goroutines and the heap after the first passes with those at the end.
func TestPassesLeaveNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // runs after all other cleanups
	passes, settled := 500, 100
	if testing.Short() {
		passes, settled = 100, 50
	}
	c, w := longRunningController(t)
	var goroutines int
	var heap uint64
	for i := range passes {
		must.Succeed(t, w.renew(i))
		r := must.Get(c.RunOnce(t.Context(), nil))(t)
		evicted := 0
		for _, o := range r.Outcomes {
			if o.Outcome == plan.Evicted && o.Replacement != nil {
				evicted++
			}
		}
		if evicted != 2 || r.Stopped != nil {
			t.Fatalf("pass %d evicted %d pods, want 2; stop reason %v: %+v", i+1, evicted, r.Stopped, r.Outcomes)
		}
		if i+1 == settled {
			goroutines, heap = runtime.NumGoroutine(), heapInUse()
		}
	}
	grown := (float64(heapInUse()) - float64(heap)) / float64(passes-settled)
	t.Logf("%d passes; from pass %d on the heap grew by %.0f bytes per pass; %d goroutines, %d then", passes, settled, grown,
		runtime.NumGoroutine(), goroutines)
	if grown > bytesPerPass {
		t.Errorf("the heap grows by %.0f bytes per pass", grown)
	}
	// The number of connections varies.
	for until := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("got %d goroutines, want %d as after %d passes", runtime.NumGoroutine(), goroutines, settled)
		}
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers released
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// longRunningController returns a controller with real components and a simulated cluster. Before
// each pass, the clock advances by two hours and the three zones become unbalanced again.
func longRunningController(t *testing.T) (*controller.Controller, *renewedCluster) {
	t.Helper()
	c, _ := newController(t, nil, plan.Live)
	w := &renewedCluster{Planner: c.Planner, fake: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
		changed: make(chan struct{})}
	server := httptest.NewServer(w)
	over := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { over.CloseIdleConnections(); server.Close() })
	client := must.Get(kubernetes.NewForConfigAndClient(&rest.Config{Host: server.URL, QPS: -1}, over))(t)
	live := evictor.NewLive(client, w, workloadOf, evictor.Options{VerifyTimeout: time.Minute, Clock: clock.RealClock{}, Log: c.Log})
	c.Observer, c.Planner, c.Evictor, c.Resolver, c.Clock, c.Recorder = w, w, live, live, w.fake, metrics.New("test", "")
	runs := 0
	c.NewRunID = func() string { runs++; return fmt.Sprint("r", runs) }
	return c, w
}

func workloadOf(p *corev1.Pod) string {
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		return string(o.UID)
	}
	return ""
}

// renewedCluster is a cluster that is rebuilt for each pass, and its API server. Replacements land as predicted.
type renewedCluster struct {
	controller.Planner
	fake *clocktesting.FakeClock

	mu      sync.Mutex
	objects *cluster.Objects
	to      map[string]string // by pod
	changed chan struct{}
}

// renew advances the clock by two hours and replaces every pod with a new one.
func (w *renewedCluster) renew(pass int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fake.Step(2 * time.Hour)
	objects, err := cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil)
	if err != nil {
		return err
	}
	for _, p := range objects.Pods {
		p.UID = types.UID(fmt.Sprintf("%s-%d", p.UID, pass))
	}
	w.objects = objects
	return nil
}

func (w *renewedCluster) Snapshot(context.Context) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := *w.objects
	seen.Pods, seen.TakenAt = slices.Clone(seen.Pods), w.fake.Now()
	return cluster.New(&seen)
}

func (w *renewedCluster) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	p := w.Planner.Plan(s, st, goals, now)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = map[string]string{}
	for _, m := range p.Moves {
		w.to[m.Pod.Name] = m.To
	}
	return p
}

func (w *renewedCluster) Pods(namespace string) (out []*corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.objects.Pods {
		if p.Namespace == namespace {
			out = append(out, p)
		}
	}
	return out
}

func (w *renewedCluster) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func (w *renewedCluster) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/pods") {
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		for _, p := range w.objects.Pods {
			list.Items = append(list.Items, *p)
		}
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(list)
		return
	}
	name := path.Base(strings.TrimSuffix(r.URL.Path, "/eviction"))
	i := slices.IndexFunc(w.objects.Pods, func(p *corev1.Pod) bool { return p.Name == name })
	if i < 0 {
		http.Error(out, "no such pod", http.StatusNotFound)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	victim := w.objects.Pods[i].DeepCopy()
	victim.APIVersion, victim.Kind = "v1", "Pod"
	if r.Method == http.MethodGet {
		_ = json.NewEncoder(out).Encode(victim)
		return
	}
	replacement := victim.DeepCopy()
	replacement.Name, replacement.UID, replacement.Spec.NodeName = name+"-new", victim.UID+"-new", w.to[name]
	w.objects.Pods = append(slices.Delete(w.objects.Pods, i, i+1), replacement)
	close(w.changed)
	w.changed = make(chan struct{})
	out.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(out).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}
