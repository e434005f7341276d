package controller_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
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

// change changes 1 % of the pods: a third is replaced on another node, a third gets another status, and a third goes.
func (s podStore) change(r *rand.Rand, o *cluster.Objects) {
	keys := slices.Sorted(maps.Keys(s))
	for i := range len(keys) / 100 {
		p := s[keys[r.IntN(len(keys))]]
		if p == nil {
			continue
		}
		switch i % 3 {
		case 0:
			delete(s, p.UID)
			p = p.DeepCopy()
			p.UID, p.Name = types.UID(fmt.Sprintf("new-%d", i)), fmt.Sprintf("%s-x%d", p.Name, i)
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
// second pass, 1 % of the pods change. It reports the CPU time of both, of their parts, and their ratio.
func BenchmarkSecondPass(b *testing.B) {
	objects := simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 5000, 150_000)
	conf := must.Get(config.Load("c", []byte(secondPassConfig)))(b)
	store := podStore{}
	for _, p := range objects.Pods {
		store[p.UID] = p
	}
	sums, bytes := map[string]time.Duration{}, map[string]uint64{}
	for b.Loop() {
		p := benchmarkPasses{b, conf, cluster.Indexer{IsMarked: annotation.IsMarked}, sums, bytes}
		store := maps.Clone(store)
		p.run("first", store.objects(*objects))
		store.change(rand.New(rand.NewPCG(1, 2)), objects)
		p.run("second", store.objects(*objects))
	}
	for name, sum := range sums {
		b.ReportMetric(sum.Seconds()/float64(b.N), name+"-s")
	}
	for name, sum := range bytes {
		b.ReportMetric(float64(sum)/float64(b.N)/1e6, name+"-MB")
	}
	b.ReportMetric(float64(sums["second"])/float64(sums["first"]), "ratio")
}

// benchmarkPasses runs passes one after another, and adds up the CPU time of their parts.
type benchmarkPasses struct {
	b     *testing.B
	conf  *config.Config
	index cluster.Indexer
	sums  map[string]time.Duration
	bytes map[string]uint64
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func (x *benchmarkPasses) run(name string, o *cluster.Objects) {
	pprof.SetGoroutineLabels(pprof.WithLabels(x.b.Context(), pprof.Labels("pass", name)))
	defer pprof.SetGoroutineLabels(x.b.Context())
	runtime.GC() // the next one would otherwise fall into any part
	allocated := allocatedBytes()
	begun := cputime.Used(x.b)
	at := begun
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
	x.sums[name] += at - begun
	x.bytes[name] += allocatedBytes() - allocated
	if len(p.Moves) != 500 {
		x.b.Fatalf("the %s pass has %d moves", name, len(p.Moves))
	}
}
