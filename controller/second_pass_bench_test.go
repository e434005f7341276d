package controller_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const secondPassConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
  hot-nodes: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
limits: {perPass: 500, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// podStore returns pods in no order, as the store of an informer does.
type podStore map[types.UID]*corev1.Pod

func (s podStore) objects(o cluster.Objects) *cluster.Objects {
	o.Pods = slices.Collect(maps.Values(s))
	return &o
}

// change changes n pods: a third is replaced on another node, a third gets another status, and a third goes.
func (s podStore) change(r *rand.Rand, o *cluster.Objects, n int) {
	keys := slices.Sorted(maps.Keys(s))
	for i := range n {
		p := s[keys[r.IntN(len(keys))]]
		if p == nil {
			continue
		}
		switch i % 3 {
		case 0:
			delete(s, p.UID)
			p = p.DeepCopy()
			p.UID, p.Name = types.UID(fmt.Sprintf("new-%d-%d", i, r.Uint64())), fmt.Sprintf("%s-x%d", p.Name, i)
			p.Spec.NodeName = o.Nodes[r.IntN(len(o.Nodes))].Name
			s[p.UID] = p
		case 1:
			p = p.DeepCopy()
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "Changed", LastTransitionTime: metav1.NewTime(o.TakenAt)})
			s[p.UID] = p
		case 2:
			delete(s, p.UID)
		}
	}
}

// BenchmarkSecondPass measures two passes on 5,000 nodes and 150,000 pods, with at most 500 evictions. Before the
// second pass, 1 % of the pods change. It reports the CPU time of both, of their parts, and their ratio, and the CPU
// time of a check before a batch of evictions.
func BenchmarkSecondPass(b *testing.B) {
	objects := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, 150_000)
	conf := must.Get(config.Load("c", []byte(secondPassConfig)))(b)
	store := podStore{}
	for _, p := range objects.Pods {
		store[p.UID] = p
	}
	sums, bytes := map[string]time.Duration{}, map[string]uint64{}
	for b.Loop() {
		x := benchmarkPasses{b, conf, cluster.Indexer{IsMarked: annotation.IsMarked}, sums, bytes}
		store, r := maps.Clone(store), rand.New(rand.NewPCG(1, 2))
		x.measure("first", func() { x.plan("first", store.objects(*objects)) })
		store.change(r, objects, len(store)/100)
		var p plan.Plan
		x.measure("second", func() { p = x.plan("second", store.objects(*objects)) })
		store.change(r, objects, 50)
		x.measure("recheck", func() { x.recheck(store.objects(*objects), p) })
	}
	for name, sum := range sums {
		b.ReportMetric(sum.Seconds()/float64(b.N), name+"-s")
	}
	for name, sum := range bytes {
		b.ReportMetric(float64(sum)/float64(b.N)/1e6, name+"-MB")
	}
	b.ReportMetric(float64(sums["second"])/float64(sums["first"]), "ratio")
}

// benchmarkPasses adds up the CPU time and the allocations of passes and their parts.
type benchmarkPasses struct {
	b     *testing.B
	conf  *config.Config
	index cluster.Indexer
	sums  map[string]time.Duration
	bytes map[string]uint64
}

// measure measures f without garbage collection, which would fall into any part.
func (x *benchmarkPasses) measure(name string, f func()) {
	pprof.SetGoroutineLabels(pprof.WithLabels(x.b.Context(), pprof.Labels("pass", name)))
	defer pprof.SetGoroutineLabels(x.b.Context())
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	allocated, begun := allocatedBytes(), cputime.Used(x.b)
	f()
	x.sums[name] += cputime.Used(x.b) - begun
	x.bytes[name] += allocatedBytes() - allocated
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// plan makes a plan and measures its parts.
func (x *benchmarkPasses) plan(name string, o *cluster.Objects) plan.Plan {
	at := cputime.Used(x.b)
	lap := func(part string) {
		now := cputime.Used(x.b)
		x.sums[name+"-"+part] += now - at
		at = now
	}
	s := must.Get(x.index.New(o))(x.b)
	lap("snapshot")
	goals := controller.Goals(s, x.conf.BuildStrategies(), nil)
	lap("goals")
	p := planner.New(x.conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	lap("plan")
	if len(p.Moves) != 500 {
		x.b.Fatalf("the %s plan has %d moves", name, len(p.Moves))
	}
	return p
}

// recheck checks the first wave of a plan on a new snapshot, as the controller does before each batch of evictions.
func (x *benchmarkPasses) recheck(o *cluster.Objects, p plan.Plan) {
	s := must.Get(x.index.New(o))(x.b)
	goals := planner.GoalsFor(plan.Automatic, controller.Goals(s, x.conf.BuildStrategies(), nil))
	ok, _ := planner.New(x.conf.PlannerOptions()).Recheck(s, plan.PlannerState{}, goals, p, 1, s.TakenAt)
	if len(ok) == 0 {
		x.b.Fatal("no move is valid")
	}
}
