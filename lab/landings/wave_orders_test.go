package landings

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// denseClusters has ten clusters of 4 to 12 nodes, most of which are 80 to 98 % full. If the
// planner lets a move count on the room of a pod of its wave, replacements become unschedulable in
// nine of them.
//
//go:embed testdata/dense.json
var denseClusters []byte

// denseCluster is one of denseClusters: the zones of its nodes, and its Deployments.
type denseCluster struct {
	Zones map[string]string
	Apps  []seed.App
}

// spreadConfig has the namespace in scope.
const spreadConfig = `
namespaces: {include: [%s]}
strategies:
  hosts: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1, topologyKey: kubernetes.io/hostname}}
guards: {minPodAge: 0s, minReplicas: 1}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: 1}}
`

// TestNoReplacementWaitsForItsWave plans for ten dense clusters and executes the plans. Each
// cluster is a namespace with its own nodes. Evicted pods take 20 seconds to terminate. At no time
// may a replacement be unschedulable.
func TestNoReplacementWaitsForItsWave(t *testing.T) {
	moves, evictions := 0, 0
	namespaces := seedDenseClusters(t)
	for _, ns := range namespaces {
		t.Run(ns, func(t *testing.T) {
			planned, evicted := executePlan(t, ns)
			moves, evictions = moves+planned, evictions+evicted
		})
	}
	t.Logf("%d plans with %d moves, %d evictions", len(namespaces), moves, evictions)
	if evictions < 2*len(namespaces) {
		t.Errorf("only %d evictions", evictions)
	}
}

// seedDenseClusters creates denseClusters and returns their namespaces.
func seedDenseClusters(t *testing.T) (namespaces []string) {
	t.Helper()
	var clusters []denseCluster
	must.Succeed(t, json.Unmarshal(denseClusters, &clusters))
	seedCluster(t, "dense", 0, nil) // empties the namespace of the last test
	for i, c := range clusters {
		nodes := slices.Sorted(maps.Keys(c.Zones))
		for _, name := range nodes {
			must.Succeed(t, seed.CreateNode(t.Context(), lab.Client, seed.Node{Name: name, Zone: c.Zones[name], CPU: 4, MemoryGi: 40}))
		}
		for k := range c.Apps {
			a := &c.Apps[k]
			a.AllowedNodes, a.GraceSeconds, a.WithoutService = nodes, 20, true
			a.Annotations = map[string]string{controlplane.StopsSlowly: ""}
		}
		ns := fmt.Sprintf("dense-%d", i)
		must.Succeed(t, seed.CreateAppsInParallel(t.Context(), lab.Client, ns, c.Apps, 8))
		namespaces = append(namespaces, ns)
	}
	return namespaces
}

// executePlan lets a pass plan in a namespace and execute the plan. It returns the numbers of moves and evictions.
func executePlan(t *testing.T, ns string) (moves, evictions int) {
	stuck := watchUnschedulable(t, ns, listPods(t, ns))
	var r testbed.Report
	config := testbed.ConfigFile(t, fmt.Sprintf(spreadConfig, ns))
	out := runEvenkeel(t, "run", "--once", "-o", "json", "--lease-namespace", "dense", "--config", config)
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("parsing the report: %v in %s", err, lastBytes(out))
	}
	landings := countLandings(t, &r)
	t.Logf("%d moves planned in %d waves; %s", len(r.Spec.Moves), countWaves(&r), landings)
	for _, s := range stuck() {
		t.Error(s)
	}
	return len(r.Spec.Moves), landings.evicted
}

// watchUnschedulable watches the pods of a namespace. The result ends the watch and lists the new pods that were
// unschedulable at some time.
func watchUnschedulable(t *testing.T, ns string, before []corev1.Pod) func() []string {
	t.Helper()
	known := map[types.UID]bool{}
	for i := range before {
		known[before[i].UID] = true
	}
	w := must.Get(lab.Client.CoreV1().Pods(ns).Watch(t.Context(), metav1.ListOptions{}))(t)
	var mu sync.Mutex
	seen, stuck, stopped := 0, []string{}, false
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range w.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok || known[p.UID] {
				continue
			}
			seen++
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
					stuck = append(stuck, fmt.Sprintf("%s is unschedulable: %s", p.Name, c.Message))
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			stuck = append(stuck, "the watch ended before the pass")
		}
	}()
	return func() []string {
		mu.Lock()
		stopped = true
		mu.Unlock()
		w.Stop()
		<-done
		t.Logf("%d events of replacements", seen)
		slices.Sort(stuck)
		return slices.Compact(stuck)
	}
}
