package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

var sampleTime = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// usageFixture builds a cluster of nodes with 10 cores and 10Gi. The snapshot is taken 30
// seconds after the sample.
type usageFixture struct{ o *Objects }

func newUsageFixture(source string, nodes ...string) *usageFixture {
	u := &usageFixture{&Objects{TakenAt: sampleTime.Add(30 * time.Second), Usage: &Usage{Source: source, SampledAt: sampleTime}}}
	for _, name := range nodes {
		list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi")}
		u.o.Nodes = append(u.o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: list,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
	}
	return u
}

// addPod adds a pod of ReplicaSet app with a request in milliCPU. The pod was bound some time after
// the sample.
func (u *usageFixture) addPod(app, name, node string, milliCPU int64, after time.Duration) *corev1.Pod {
	yes := true
	if !slices.ContainsFunc(u.o.ReplicaSets, func(r *appsv1.ReplicaSet) bool { return r.Name == app }) {
		u.o.ReplicaSets = append(u.o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app,
			UID: types.UID("rs-" + app)}})
	}
	start := metav1.NewTime(sampleTime.Add(after))
	c := corev1.Container{Name: "c"}
	if milliCPU > 0 {
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)}
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": app},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID("rs-" + app),
				Controller: &yes}}},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{c}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start}}
	u.o.Pods = append(u.o.Pods, p)
	return p
}

func (u *usageFixture) addNodeUsage(name string, cpu int64) {
	u.o.Usage.Nodes = append(u.o.Usage.Nodes, NodeUsage{Name: name, At: sampleTime, Used: map[string]int64{"cpu": cpu}})
}

func (u *usageFixture) addPodUsage(name, uid, node string, cpu int64) {
	u.o.Usage.Pods = append(u.o.Usage.Pods, PodUsage{Namespace: "shop", Name: name, UID: uid, Node: node, Used: map[string]int64{"cpu": cpu}})
}

func (u *usageFixture) snapshot(t *testing.T) *Snapshot {
	t.Helper()
	s := must.Get(New(u.o))(t)
	return s
}

// describeUsage returns the known cpu usage: nodes as used(assumed), pods as usage and quality.
func describeUsage(s *Snapshot) string {
	var b strings.Builder
	for i := range s.Nodes {
		used, probable, known := s.Usage.NodeUsed(NodeID(i), "cpu")
		if !known {
			fmt.Fprintf(&b, "%s ? ", s.Nodes[i].Name)
			continue
		}
		fmt.Fprintf(&b, "%s %d(%d)", s.Nodes[i].Name, used, probable)
		if doubt := s.Usage.Uncertain(NodeID(i), "cpu"); doubt != 0 {
			fmt.Fprintf(&b, "-%d", doubt)
		}
		b.WriteByte(' ')
	}
	for i := range s.Pods {
		use, known := s.Usage.PodUsed(PodID(i), "cpu")
		fmt.Fprintf(&b, "%s %d %s ", s.Pods[i].Object.Name, use, [...]string{"unknown", "since", "estimated", "measured"}[known])
	}
	return strings.TrimSpace(b.String())
}

func TestUsageIsBroughtToTheSnapshot(t *testing.T) {
	before, after := -time.Hour, 10*time.Second
	for _, c := range []struct {
		what string
		make func(u *usageFixture)
		want string
	}{
		{"as it was measured", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 100, before)
			u.addNodeUsage("n1", 3000)
			u.addPodUsage("a1", "uid-a1", "n1", 700)
		}, "n1 3000(0) n2 ? a1 700 measured"},
		{"bound later: the mean of its workload", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 100, before)
			u.addPod("a", "a2", "n1", 100, before)
			u.addPod("a", "a3", "n2", 100, after)
			u.addNodeUsage("n1", 3000)
			u.addNodeUsage("n2", 500)
			u.addPodUsage("a1", "uid-a1", "n1", 700)
			u.addPodUsage("a2", "uid-a2", "n1", 900)
		}, "n1 3000(0) n2 1300(800) a1 700 measured a2 900 measured a3 800 since"},
		{"bound later, no pod of its workload known: its requests, or 100m without requests", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 250, after)
			u.addPod("b", "b1", "n1", 0, after)
			u.addNodeUsage("n1", 3000)
		}, "n1 3350(350) n2 ? a1 250 since b1 100 since"},
		{"measured, but bound after its node's sample: added, and certain", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 100, after)
			u.addNodeUsage("n1", 3000)
			u.addPodUsage("a1", "uid-a1", "n1", 700)
		}, "n1 3700(0) n2 ? a1 700 measured"},
		{"two values: the higher counts, the difference is uncertain", func(u *usageFixture) {
			u.addNodeUsage("n1", 8600)
			u.addNodeUsage("n2", 3000)
			u.o.Usage.Nodes[0].Newest = map[string]int64{"cpu": 5000}
			u.o.Usage.Nodes[1].Newest = map[string]int64{"cpu": 4000}
		}, "n1 8600(0)-3600 n2 4000(0)-1000"},
		{"two values: a pod that left is subtracted from both, one that arrived is added to both", func(u *usageFixture) {
			u.addPod("a", "a1", "n2", 100, after)
			u.addNodeUsage("n1", 8600)
			u.addNodeUsage("n2", 3000)
			u.o.Usage.Nodes[0].Newest = map[string]int64{"cpu": 5000}
			u.o.Usage.Nodes[1].Newest = map[string]int64{"cpu": 4000}
			u.addPodUsage("a1", "uid-a1", "n2", 700)
			u.addPodUsage("a2", "uid-a2", "n1", 600)
		}, "n1 8000(0)-3600 n2 4700(0)-1000 a1 700 measured"},
		{"two values: an implausible one is ignored", func(u *usageFixture) {
			u.addNodeUsage("n1", 3000)
			u.o.Usage.Nodes[0].Newest = map[string]int64{"cpu": -1}
		}, "n1 3000(0) n2 ?"},
		{"left later, or replaced by another pod of the same name", func(u *usageFixture) {
			u.addPod("a", "a1", "n2", 100, before).UID = "new"
			u.addNodeUsage("n1", 3000)
			u.addNodeUsage("n2", 1000)
			u.addPodUsage("a1", "uid-a1", "n1", 700)
			u.addPodUsage("a2", "uid-a2", "n1", 800)
			u.addPodUsage("a3", "uid-a3", "n9", 800)
			u.addPodUsage("a4", "uid-a4", "", 800)
		}, "n1 1500(0) n2 1000(0) a1 100 unknown"},
		{"without UIDs, pods match by name and node", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 100, before)
			u.addPod("a", "a2", "n2", 100, before)
			u.addPod("a", "a3", "n1", 100, after)
			u.addNodeUsage("n1", 3000)
			u.addNodeUsage("n2", 1000)
			u.addPodUsage("a1", "", "n1", 700)
			u.addPodUsage("a2", "", "n1", 800)
			u.addPodUsage("a3", "", "n1", 300)
		}, "n1 2600(700) n2 1000(0) a1 700 measured a2 700 unknown a3 700 since"},
		{"ended since", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 100, before).Status.Phase = corev1.PodSucceeded
			u.addNodeUsage("n1", 600)
			u.addPodUsage("a1", "uid-a1", "n1", 700)
		}, "n1 0(0) n2 ? a1 0 unknown"},
		{"nodes only: shares by requests, new pods assumed", func(u *usageFixture) {
			u.o.Usage.NodesOnly = true
			u.addPod("a", "a1", "n1", 300, before)
			u.addPod("b", "b1", "n1", 600, before)
			u.addPod("c", "c1", "n1", 500, after)
			u.addNodeUsage("n1", 3000)
		}, "n1 3500(500) n2 ? a1 1000 estimated b1 2000 estimated c1 500 since"},
		{"no pods from a source that measures pods: unknown", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 300, before)
			u.addNodeUsage("n1", 3000)
		}, "n1 3000(0) n2 ? a1 300 unknown"},
		{"implausible amounts, and a node twice", func(u *usageFixture) {
			u.addPod("a", "a1", "n1", 300, before)
			u.addPod("a", "a2", "n2", 300, before)
			u.addNodeUsage("n1", -1)
			u.addNodeUsage("n2", 3000)
			u.addNodeUsage("n2", 100)
			u.addPodUsage("a1", "uid-a1", "n1", maxAmount+1)
		}, "n1 ? n2 ? a1 300 unknown a2 300 unknown"},
	} {
		u := newUsageFixture("metricsServer", "n1", "n2")
		c.make(u)
		if got := describeUsage(u.snapshot(t)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

// newWindowFixture returns a fixture with the usage of node n1 over a window. Pod a1 arrived or left
// some time before the sample.
func newWindowFixture(source, statistic string, window time.Duration, samples int, came, left time.Duration) *usageFixture {
	u := newUsageFixture(source, "n1")
	u.o.Usage.Statistic, u.o.Usage.WindowSeconds, u.o.Usage.Samples = statistic, window.Seconds(), samples
	u.addNodeUsage("n1", 1000)
	u.addPodUsage("a1", "uid-a1", "n1", 400)
	if left > 0 {
		u.o.Usage.Pods[0].At = sampleTime.Add(-left)
	} else {
		u.addPod("a", "a1", "n1", 100, -came)
	}
	return u
}

// TestStatisticsOverAWindow uses a window of 5 minutes that samples fill completely.
func TestStatisticsOverAWindow(t *testing.T) {
	for _, c := range []struct {
		statistic  string
		came, left time.Duration
		want       string
	}{
		{"latest", 10 * time.Second, 0, "n1 1000(0) a1 400 measured"}, // a1 is in the newest of 20 samples
		{"latest", 0, 10 * time.Second, "n1 600(0)"},
		{"latest", 0, 20 * time.Second, "n1 1000(0)"}, // the newest sample is without a1
		{"p90", 10 * time.Second, 0, "n1 1400(0) a1 400 measured"},
		{"p90", time.Minute, 0, "n1 1000(0) a1 400 measured"},
		{"p90", 0, 4 * time.Minute, "n1 600(0)"},
		{"p90", 0, 290 * time.Second, "n1 1000(0)"},
		{"p95", 0, 280 * time.Second, "n1 600(0)"},
		{"max", 0, 299 * time.Second, "n1 600(0)"},
		{"max", 0, 10 * time.Minute, "n1 1000(0)"},
		{"mean", time.Minute, 0, "n1 1320(0) a1 400 measured"},
		{"mean", time.Hour, 0, "n1 1000(0) a1 400 measured"},
		{"mean", 0, 4 * time.Minute, "n1 920(0)"},
	} {
		if got := describeUsage(newWindowFixture("prometheus", c.statistic, 5*time.Minute, 20, c.came, c.left).snapshot(t)); got != c.want {
			t.Errorf("%s, arrived %s before, left %s before: %s, want %s", c.statistic, c.came, c.left, got, c.want)
		}
	}
}

// TestRateIncludesUsageOfLeftPod checks the part of a1's usage that a rate may still include. This
// part must not cause another move, and the planner must not treat it as free.
func TestRateIncludesUsageOfLeftPod(t *testing.T) {
	for _, c := range []struct {
		statistic, resource string
		left                time.Duration
		want                string
	}{
		{"latest", "cpu", 10 * time.Second, "n1 600(0)"}, // the newest of 20 samples began with it
		{"latest", "cpu", 15 * time.Second, "n1 1000(0)-400"},
		{"latest", "cpu", 75 * time.Second, "n1 1000(0)-200"}, // or 60 s, so a rate over 120 s includes half of it
		{"latest", "cpu", 140 * time.Second, "n1 1000(0)"},
		{"p90", "cpu", 4 * time.Minute, "n1 600(0)"},
		{"p90", "cpu", 290 * time.Second, "n1 1000(0)-400"},
		{"p90", "cpu", 400 * time.Second, "n1 1000(0)"},
		{"mean", "cpu", 4 * time.Minute, "n1 920(0)-80"},
		{"mean", "memory", 4 * time.Minute, "n1 1000(0)"}, // memory is not a rate
	} {
		u := newUsageFixture("prometheus", "n1")
		u.o.Usage.Statistic, u.o.Usage.WindowSeconds, u.o.Usage.Samples, u.o.Usage.RateSeconds = c.statistic, 300, 20, 120
		u.addNodeUsage("n1", 1000)
		u.addPodUsage("a1", "uid-a1", "n1", 400)
		u.o.Usage.Pods[0].At = sampleTime.Add(-c.left)
		if c.resource != "cpu" {
			u.o.Usage.Pods[0].Used = map[string]int64{c.resource: 400}
		}
		if got := describeUsage(u.snapshot(t)); got != c.want {
			t.Errorf("%s, %s of a pod that left %s before: %s, want %s", c.statistic, c.resource, c.left, got, c.want)
		}
	}
}

// TestPartlyFilledWindows uses a window of 15 minutes with two samples from the last minute. The
// statistic covers only these two samples.
func TestPartlyFilledWindows(t *testing.T) {
	for _, c := range []struct {
		statistic  string
		came, left time.Duration
		want       string
	}{
		{"mean", 10 * time.Minute, 0, "n1 1000(0) a1 400 measured"},
		{"mean", 30 * time.Second, 0, "n1 1200(0) a1 400 measured"},
		{"mean", 0, 30 * time.Second, "n1 800(0)"},
		{"mean", 0, 2 * time.Minute, "n1 1000(0)"},
		{"p90", 10 * time.Second, 0, "n1 1000(0) a1 400 measured"},
		{"latest", 0, 30 * time.Second, "n1 1000(0)"},
		{"latest", 0, 10 * time.Second, "n1 600(0)"},
	} {
		u := newWindowFixture("metricsServer", c.statistic, 15*time.Minute, 2, c.came, c.left)
		u.o.Usage.Nodes[0].SpanSeconds = 60
		if got := describeUsage(u.snapshot(t)); got != c.want {
			t.Errorf("%s, arrived %s before, left %s before: %s, want %s", c.statistic, c.came, c.left, got, c.want)
		}
	}
}

// TestOldSamplesOfPods checks that the usage of a pod with an old sample is unknown, and that a new
// pod may lack a sample.
func TestOldSamplesOfPods(t *testing.T) {
	u := newUsageFixture("metricsServer", "n1")
	u.addPod("a", "a1", "n1", 100, -time.Hour)
	u.addPod("b", "b1", "n1", 100, -time.Hour)
	u.addPod("c", "c1", "n1", 100, -50*time.Second)
	u.addPod("d", "d1", "n1", 100, -70*time.Second)
	u.addNodeUsage("n1", 1000)
	u.addPodUsage("a1", "uid-a1", "n1", 400)
	u.addPodUsage("b1", "uid-b1", "n1", 400)
	u.o.Usage.Pods[0].At, u.o.Usage.Pods[1].At = sampleTime.Add(-50*time.Second), sampleTime.Add(-70*time.Second)
	if got := describeUsage(u.snapshot(t)); got != "n1 1100(100) a1 400 measured b1 100 unknown c1 100 since d1 100 unknown" {
		t.Error(got)
	}
}

func TestLoadWatcherKnowsNodesOnly(t *testing.T) {
	u := newUsageFixture("loadWatcher", "n1")
	u.o.Usage.NodesOnly = true
	u.addPod("a", "a1", "n1", 300, -time.Hour)
	u.addNodeUsage("n1", 1200)
	if got := describeUsage(u.snapshot(t)); got != "n1 1200(0) a1 1200 estimated" {
		t.Error(got)
	}
}

// TestOtherValuesAreNoShareOfNode checks that available memory and values of hint rules do not count
// as shares of a node.
func TestOtherValuesAreNoShareOfNode(t *testing.T) {
	u := newUsageFixture("prometheus", "n1")
	u.addNodeUsage("n1", 1200)
	maps.Copy(u.o.Usage.Nodes[0].Used, map[string]int64{"memory.available": 1 << 30, "rule:frost": -1, "disk": 400_000})
	if got := strings.Join(u.snapshot(t).Usage.Resources(), " "); got != "cpu disk" {
		t.Error(got)
	}
}

// Usage that no machine with that capacity can have is unknown, whatever source it came from.
func TestImplausibleUsageIsUnknown(t *testing.T) {
	capacity := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("8Gi")}
	for _, x := range []struct {
		name, resource string
		capacity       corev1.ResourceList
		amount         int64
		known          bool
	}{
		{"at 1.25 times the capacity", "cpu", capacity, 10_000, true},
		{"beyond it", "cpu", capacity, 10_001, false},
		{"of memory", "memory", capacity, 10 << 30, true},
		{"of memory, beyond it", "memory", capacity, 10<<30 + 1, false},
		{"a fraction", "disk", capacity, 1_250_000, true},
		{"a fraction, beyond it", "disk", capacity, 1_250_001, false},
		{"negative", "cpu", capacity, -1, false},
		{"of an unknown capacity", "cpu", nil, 1 << 50, true},
		{"of an unknown capacity, beyond any machine", "cpu", nil, 1<<50 + 1, false},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Capacity: x.capacity}}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{NodeName: "n1"}}
		u := &Usage{Nodes: []NodeUsage{{Name: "n1", Used: map[string]int64{x.resource: x.amount}}},
			Pods: []PodUsage{{Namespace: "shop", Name: "web", Node: "n1", Used: map[string]int64{x.resource: x.amount}}}}
		s := must.Get(New(&Objects{Nodes: []*corev1.Node{n}, Pods: []*corev1.Pod{p}, Usage: u}))(t)
		if used, _, known := s.Usage.NodeUsed(0, x.resource); known != x.known {
			t.Errorf("%s: got node usage %d, known %v", x.name, used, known)
		}
		if _, quality := s.Usage.PodUsed(0, x.resource); (quality == Measured) != x.known {
			t.Errorf("%s: got pod quality %v", x.name, quality)
		}
	}
}
