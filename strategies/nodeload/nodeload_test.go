package nodeload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestInvalidArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"target":{"cpu":0.8}}`:                                       "",
		`{"basis":"load","for":3,"target":{"cpu":0.8}}`:                "",
		`{"basis":"load","deviation":{"pressure":0.1}}`:                "",
		`{"basis":"load","selector":"a=b","target":{"cpu":1}}`:         "",
		`{"basis":"usage","target":{"cpu":0.8}}`:                       `basis: "usage" is unknown (want requests or load)`,
		`{"for":2,"target":{"cpu":0.8}}`:                               "for: counts samples of usage, but basis is requests (want basis: load, or for: 1)",
		`{"basis":"load","for":0,"target":{"cpu":0.8}}`:                "for: 0 is too small (want 1 or more samples)",
		`{"target":{"pressure":0.8}}`:                                  `target.pressure: unknown resource "pressure" (want cpu, memory, pods, ephemeral-storage or an extended resource such as example.com/gpu)`,
		`{"selector":"=x","target":{"cpu":0.8}}`:                       `selector: "=x" is not a label selector: found '=', expected: !, identifier, or 'end of string'`,
		`{"basis":"load","target":{"memory.available":0.1}}`:           "target.memory.available: is free memory, not used memory (want memory, or a hint rule with below)",
		`{"basis":"load","for":2,"selector":"a=b","target":{"cpu":1}}`: "for: counts samples of whole nodes, but selector counts only some of their pods; the combination is not supported (want for: 1, or no selector)",
		`{"basis":"load"}`:                                             "want either target or deviation, with at least one resource, such as target: {cpu: 0.80}",
	} {
		_, errs := New("hot", []byte(in), cluster.Scope{})
		var got []string
		for _, err := range errs {
			got = append(got, err.Error())
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s: %q, want %q", in, text, want)
		}
	}
}

var snapshotTime = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// newSnapshot returns a cluster with the nodes n1 (4 cores), n2 and n3 (16 cores each). used is their usage one minute
// ago.
func newSnapshot(t *testing.T, marks []cluster.Mark, used ...map[string]int64) *cluster.Snapshot {
	t.Helper()
	o := &cluster.Objects{TakenAt: snapshotTime, Usage: &cluster.Usage{Source: "prometheus", SampledAt: snapshotTime.Add(-time.Minute), Marks: marks}}
	for i, cores := range []string{"4", "16", "16"} {
		name := fmt.Sprintf("n%d", i+1)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores), corev1.ResourceMemory: resource.MustParse("8Gi")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
		if i < len(used) && used[i] != nil {
			o.Usage.Nodes = append(o.Usage.Nodes, cluster.NodeUsage{Name: name, At: snapshotTime.Add(-time.Minute), Used: used[i]})
		}
	}
	s := must.Get(cluster.New(o))(t)
	return s
}

func milliCPU(n int64) map[string]int64 { return map[string]int64{"cpu": n} }

// describeGoals returns the goals of the strategy as text.
func describeGoals(t *testing.T, args string, s *cluster.Snapshot) []string {
	t.Helper()
	l, errs := New("hot", []byte(args), cluster.Scope{Usage: cluster.UsageRequirements{MaxAge: 3 * time.Minute, MinCoverage: 0.6}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []string
	for _, g := range l.Goals(s) {
		text := fmt.Sprintf("%s %s %s %.3f", g.Subject.Name, g.Basis, g.Resource, g.Limit)
		if g.Constraint || g.Wait.Code != "" {
			text += fmt.Sprintf(" constraint %v: %s", g.Constraint, g.Wait.Message)
		}
		out = append(out, text)
	}
	return out
}

func TestGoalsByLoad(t *testing.T) {
	mark := func(node string, hot bool, samples int, fresh bool) cluster.Mark {
		return cluster.Mark{Watch: "hot", Node: node, Resource: "cpu", Hot: hot, Samples: samples, Required: 3, CountRestarted: fresh}
	}
	for _, c := range []struct {
		what, args string
		s          *cluster.Snapshot
		want       []string
	}{
		{"a node with unknown usage has no goal", `{"basis":"load","target":{"cpu":0.8}}`,
			newSnapshot(t, nil, milliCPU(3900), milliCPU(100)), []string{"n1 load cpu 0.800", "n2 load cpu 0.800"}},
		{"the usage of too few nodes is known", `{"basis":"load","target":{"cpu":0.8}}`, newSnapshot(t, nil, milliCPU(3900)), nil},
		{"for one of two resources, the usage of too few nodes is known", `{"basis":"load","target":{"cpu":0.8,"memory":0.8}}`, newSnapshot(t, nil, milliCPU(3900), milliCPU(100), milliCPU(100)), nil},
		{"the mean counts nodes with known usage, by size: 7200 of 20000", `{"basis":"load","deviation":{"cpu":0.1}}`,
			newSnapshot(t, nil, milliCPU(4000), milliCPU(3200)), []string{"n1 load cpu 0.460", "n2 load cpu 0.460"}},
		{"a ratio with any name", `{"basis":"load","target":{"pressure":0.5}}`,
			newSnapshot(t, nil, map[string]int64{"pressure": 600_000}, map[string]int64{"pressure": 0}), []string{"n1 load pressure 0.500", "n2 load pressure 0.500"}},
		{"no usage", `{"basis":"load","target":{"cpu":0.8}}`, newSnapshot(t, nil), nil},
		{"basis requests ignores usage", `{"target":{"cpu":0.8}}`, newSnapshot(t, nil), []string{"n1  cpu 0.800", "n2  cpu 0.800", "n3  cpu 0.800"}},
		{"not for long enough", `{"basis":"load","for":3,"target":{"cpu":0.5}}`,
			newSnapshot(t, []cluster.Mark{mark("n1", true, 3, false), mark("n2", false, 2, true), {Watch: "other", Node: "n3", Resource: "cpu", Hot: true}}, milliCPU(3900), milliCPU(9000), milliCPU(9000)),
			[]string{"n1 load cpu 0.500",
				"n2 load cpu 0.500 constraint true: above its target in 2 of 3 samples in a row, counted since this process started",
				"n3 load cpu 0.500 constraint true: above its target in 0 of 3 samples in a row"}},
		{"too few under-utilized nodes hold for nodes below their target, too", `{"target":{"cpu":0.8},"below":{"cpu":0.1},"numberOfNodes":3}`,
			newSnapshot(t, nil), []string{"n1  cpu 0.800 constraint true: above its target, but only 3 nodes are under-utilized; the strategy needs at least 4", "n2  cpu 0.800 constraint true: above its target, but only 3 nodes are under-utilized; the strategy needs at least 4", "n3  cpu 0.800 constraint true: above its target, but only 3 nodes are under-utilized; the strategy needs at least 4"}},
		{"one of two under-utilized nodes", `{"basis":"load","target":{"cpu":0.8},"below":{"cpu":0.1},"numberOfNodes":1}`, newSnapshot(t, nil, milliCPU(3900), milliCPU(1600), milliCPU(1599)),
			[]string{"n1 load cpu 0.800 constraint true: above its target, but only 1 node is under-utilized; the strategy needs at least 2",
				"n2 load cpu 0.800 constraint true: above its target, but only 1 node is under-utilized; the strategy needs at least 2", "n3 load cpu 0.800 constraint true: above its target, but only 1 node is under-utilized; the strategy needs at least 2"}},
		{"two under-utilized nodes", `{"basis":"load","target":{"cpu":0.8},"below":{"cpu":0.1},"numberOfNodes":1}`, newSnapshot(t, nil, milliCPU(3900), milliCPU(1599), milliCPU(1599)),
			[]string{"n1 load cpu 0.800", "n2 load cpu 0.800", "n3 load cpu 0.800"}},
		{"unknown usage is not low", `{"basis":"load","target":{"cpu":0.8},"below":{"cpu":0.1}}`, newSnapshot(t, nil, milliCPU(3900), milliCPU(3000)),
			[]string{"n1 load cpu 0.800 constraint true: above its target, but no node is under-utilized; the strategy needs at least 1",
				"n2 load cpu 0.800 constraint true: above its target, but no node is under-utilized; the strategy needs at least 1"}},
		{"a mean of 25%: 5000 of 20000, of which n2 uses 6.25%", `{"basis":"load","deviation":{"cpu":0.1},"belowMean":{"cpu":0.19}}`,
			newSnapshot(t, nil, milliCPU(4000), milliCPU(1000)),
			[]string{"n1 load cpu 0.350 constraint true: above its target, but no node is under-utilized; the strategy needs at least 1",
				"n2 load cpu 0.350 constraint true: above its target, but no node is under-utilized; the strategy needs at least 1"}},
		{"more than 18 points below a mean of 25%", `{"basis":"load","deviation":{"cpu":0.1},"belowMean":{"cpu":0.18}}`,
			newSnapshot(t, nil, milliCPU(4000), milliCPU(1000)), []string{"n1 load cpu 0.350", "n2 load cpu 0.350"}},
		{"only nodes above each level of when", `{"basis":"load","target":{"cpu":0.5},"when":{"stall":0.2,"cpu":0.6}}`,
			newSnapshot(t, nil, map[string]int64{"cpu": 3900, "stall": 200_001}, map[string]int64{"cpu": 9000, "stall": 300_000}, map[string]int64{"cpu": 12000, "stall": 200_000}),
			[]string{"n1 load cpu 0.500", "n2 load cpu 0.500 constraint true: above its target, but its cpu does not exceed its threshold of 60% in when",
				"n3 load cpu 0.500 constraint true: above its target, but its stall does not exceed its threshold of 20% in when"}},
		{"an unknown metric is not above a level", `{"basis":"load","target":{"cpu":0.5},"when":{"stall":0.2}}`,
			newSnapshot(t, nil, milliCPU(3900), map[string]int64{"cpu": 9000, "stall": 300_000}, map[string]int64{"cpu": 1, "stall": 0}),
			[]string{"n1 load cpu 0.500 constraint true: above its target, but its stall is unknown (when)",
				"n2 load cpu 0.500", "n3 load cpu 0.500 constraint true: above its target, but its stall does not exceed its threshold of 20% in when"}},
		{"the metric is known for too few nodes", `{"basis":"load","target":{"cpu":0.5},"when":{"stall":0.2}}`,
			newSnapshot(t, nil, map[string]int64{"cpu": 3900, "stall": 900_000}, milliCPU(0), milliCPU(0)), nil},
		{"a node at its target does not wait", `{"basis":"load","for":3,"target":{"cpu":0.5}}`, newSnapshot(t, nil, milliCPU(2000), milliCPU(8000), milliCPU(8000)),
			[]string{"n1 load cpu 0.500", "n2 load cpu 0.500", "n3 load cpu 0.500"}},
	} {
		if got := describeGoals(t, c.args, c.s); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.what, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

// TestNumberOfPodsByLoad checks that the resource pods needs no usage and no samples with basis load, and that a node
// with too many pods does not wait.
func TestNumberOfPodsByLoad(t *testing.T) {
	o := *newSnapshot(t, nil).Objects
	for _, n := range o.Nodes {
		n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("2")
	}
	for _, name := range []string{"a", "b"} {
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: "n1"}})
	}
	s := must.Get(cluster.New(&o))(t)
	args := `{"basis":"load","for":3,"target":{"pods":0.5},"below":{"pods":0.1},"numberOfNodes":1}`
	want := []string{"n1  pods 0.500", "n2  pods 0.500", "n3  pods 0.500"}
	if got := describeGoals(t, args, s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	l, _ := New("hot", []byte(args), cluster.Scope{})
	if n := l.Usage; len(n.Resources)+len(n.Watches) > 0 {
		t.Errorf("the strategy needs the usage %v and the watches %v", n.Resources, n.Watches)
	}
	if m := l.Goals(s)[0].Reason.Message; m != "pods on n1 are 100% of the number that it allows, above 50%" {
		t.Error(m)
	}
}

// TestEstimatedUsageMovesNoPods checks that the estimated usage of a pod without a sample does not move pods off n1.
func TestEstimatedUsageMovesNoPods(t *testing.T) {
	s := newSnapshot(t, nil, milliCPU(1900), milliCPU(0), milliCPU(0))
	o := *s.Objects
	start := metav1.NewTime(snapshotTime)
	o.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "new"},
		Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("200m")}}}}},
		Status: corev1.PodStatus{StartTime: &start}}}
	s = must.Get(cluster.New(&o))(t)
	got := describeGoals(t, `{"basis":"load","target":{"cpu":0.5}}`, s)
	want := "n1 load cpu 0.500 constraint true: above its target only by the estimated usage of pods that started after the last sample"
	if len(got) != 3 || got[0] != want || strings.Contains(got[1], "constraint") {
		t.Errorf("%q", got)
	}
}

// TestWindowAndNewestSample checks that no pod leaves a node if only its window or only its newest measurement exceeds
// the target. If both do, the message has the lower value.
func TestWindowAndNewestSample(t *testing.T) {
	s := newSnapshot(t, nil, milliCPU(3900), milliCPU(10000), milliCPU(0))
	o := *s.Objects
	o.Usage.Nodes[0].Newest = map[string]int64{"cpu": 1900}
	o.Usage.Nodes[1].Newest = map[string]int64{"cpu": 9600}
	s = must.Get(cluster.New(&o))(t)
	got := describeGoals(t, `{"basis":"load","target":{"cpu":0.5}}`, s)
	want := "n1 load cpu 0.500 constraint true: above its target only by usage of pods that may have left: the window, or the range of a rate, includes time before they left"
	if len(got) != 3 || got[0] != want || got[1] != "n2 load cpu 0.500" {
		t.Errorf("%q", got)
	}
	l, _ := New("hot", []byte(`{"basis":"load","target":{"cpu":0.5}}`), cluster.Scope{})
	if m := l.Goals(s)[1].Reason.Message; m != "n2 uses 60% of its cpu, above 50%" {
		t.Error(m)
	}
}

func TestUsageNeedsWatches(t *testing.T) {
	of := func(args string) string {
		l, errs := New("hot", []byte(args), cluster.Scope{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		return fmt.Sprint(l.Usage.Watches)
	}
	if got := of(`{"basis":"load","for":2,"target":{"memory":0.7,"cpu":0.8}}`); got != "[{hot cpu 0.8 0 2} {hot memory 0.7 0 2}]" {
		t.Error(got)
	}
	if got := of(`{"basis":"load","for":2,"deviation":{"cpu":0.1}}`); got != "[{hot cpu 0 0.1 2}]" {
		t.Error(got)
	}
	if got := of(`{"basis":"load","target":{"cpu":0.8}}`); got != "[]" {
		t.Error(got)
	}
}

// TestMeansCountTargets checks that means and the number of under-utilized nodes count only nodes to which pods may be
// sent. The others keep their goals, because pods may leave them.
func TestMeansCountTargets(t *testing.T) {
	for what, change := range map[string]func(*corev1.Node){
		"cordoned": func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"outgoing": func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "node.cluster.x-k8s.io/outdated-revision"}} },
		"marked bad": func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "KernelDeadlock", Status: "True"})
		},
	} {
		s := newSnapshot(t, nil, milliCPU(3600), milliCPU(1600), milliCPU(0))
		change(s.Nodes[2].Object)
		got := describeGoals(t, `{"basis":"load","deviation":{"cpu":0.1},"below":{"cpu":0.05}}`, s)
		const wait = " constraint true: above its target, but no node is under-utilized; the strategy needs at least 1"
		if want := []string{"n1 load cpu 0.360" + wait, "n2 load cpu 0.360" + wait, "n3 load cpu 0.360" + wait}; !slices.Equal(got, want) {
			t.Errorf("n3 is %s: %q, want %q", what, got, want)
		}
	}
}
