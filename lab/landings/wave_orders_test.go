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
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// denseClusters has ten clusters of 4 to 12 nodes, most of which are 80 to 98 % full. If the planner lets a move count on
// the room of a pod of its wave, replacements become unschedulable in nine of them.
//
//go:embed testdata/dense.json
var denseClusters []byte

// denseCluster is one of denseClusters: the zones of its nodes, and its Deployments.
type denseCluster struct {
	Zones map[string]string
	Apps  []seed.App
}

const spreadConfig = `
strategies:
- {name: hosts, type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1, topologyKey: kubernetes.io/hostname}}
guards: {minPodAge: 0s, minReplicas: 1}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: 1}}
`

// TestNoReplacementWaitsForItsWave lets a pass execute the moves of ten dense clusters, which are parts of one cluster.
// Evicted pods take 20 seconds to terminate. At no time may a replacement be unschedulable.
func TestNoReplacementWaitsForItsWave(t *testing.T) {
	const ns = "dense"
	var clusters []denseCluster
	if err := json.Unmarshal(denseClusters, &clusters); err != nil {
		t.Fatal(err)
	}
	var apps []seed.App
	for _, c := range clusters {
		nodes := slices.Sorted(maps.Keys(c.Zones))
		for _, name := range nodes {
			if err := seed.CreateNode(t.Context(), lab.Client, seed.Node{Name: name, Zone: c.Zones[name], CPU: 4, MemoryGi: 40}); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range c.Apps {
			a.AllowedNodes, a.GraceSeconds, a.WithoutService = nodes, 20, true
			a.Annotations = map[string]string{controlplane.StopsSlowly: ""}
			apps = append(apps, a)
		}
	}
	seedCluster(t, ns, 0, apps)
	stuck := watchUnschedulable(t, ns, listPods(t, ns))
	var r report
	out := runEvenkeel(t, "run", "--once", "-o", "json", "--lease-namespace", ns, "--config", testbed.ConfigFile(t, spreadConfig))
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("parsing the report: %v in %s", err, lastBytes(out))
	}
	t.Logf("%d moves planned in %d waves; %s", len(r.Plan.Moves), r.countWaves(), r.countLandings(t))
	if len(r.Plan.Moves) < 2*len(clusters) {
		t.Errorf("only %d moves", len(r.Plan.Moves))
	}
	for _, s := range stuck() {
		t.Error(s)
	}
}

// watchUnschedulable watches the pods of a namespace. The result ends the watch and lists the new pods that were
// unschedulable at some time.
func watchUnschedulable(t *testing.T, ns string, before []corev1.Pod) func() []string {
	t.Helper()
	known := map[types.UID]bool{}
	for i := range before {
		known[before[i].UID] = true
	}
	w, err := lab.Client.CoreV1().Pods(ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
