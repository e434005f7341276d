package planner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// barePodScenario returns a scenario of pods without a controller. Node n1 has few requests, so the scheduler prefers
// it; measured adds its high CPU usage.
func barePodScenario() *scenario.Scenario {
	objects := "base: three-nodes\nobjects:\n"
	for i := range 4 {
		objects += fmt.Sprintf(barePod, fmt.Sprint("busy-", i), "100m", "100Mi", "n1")
		objects += fmt.Sprintf(barePod, fmt.Sprint("idle-", i), "1500m", "1500Mi", []string{"n2", "n3"}[i%2])
	}
	objects += fmt.Sprintf(barePod, "new", "100m", "100Mi", `""`)
	return &scenario.Scenario{Name: "bare-pods", Config: []byte(barePodsConfig), Cluster: []byte(objects)}
}

const barePodsConfig = `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer}
hints:
  enabled: true
  label: status=presure
  rules: [{name: cpu, resource: cpu, above: 0.80, clear: 0.70, for: 2}]
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {basis: load, target: {cpu: 0.60}}}
`

const barePod = `- kind: Pod
  metadata: {name: %s}
  requests: {cpu: %s, memory: %s}
  spec:
    nodeName: %s
    affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: status, operator: NotIn, values: [presure]}]}}]}}
`

// TestBarePodsAreHelpedByHintsOnly covers a cluster in which only hints for the scheduler can help, because all pods
// are bare pods. The planner never evicts pods without a controller. The node gets its hint after the second sample,
// and the scheduler then places a new pod on another node.
func TestBarePodsAreHelpedByHintsOnly(t *testing.T) {
	bare := barePodScenario()
	s, _, conf := openScenario(t, bare)
	usage := usageFromSamples(conf, s)

	nodes := []*corev1.Node{}
	for i := range s.Nodes {
		nodes = append(nodes, s.Nodes[i].Object)
	}
	seen := pressure.LastHot{}
	if d := conf.PressureOptions().Decide(nodes, usage(1), seen, s.TakenAt); len(d.Changes) > 0 {
		t.Errorf("after one sample of two: %+v", d.Changes)
	}
	d := conf.PressureOptions().Decide(nodes, usage(2), seen, s.TakenAt)
	if len(d.Changes) != 1 || d.Changes[0].Node != "n1" {
		t.Fatalf("changes %+v, want a hint on n1", d.Changes)
	}
	if got := possibleNodesOfNewPod(t, s); !slices.Equal(got, []string{"n1"}) {
		t.Errorf("without the hint the new pod goes to %v, want n1, which has the fewest requests", got)
	}
	hinted, _, _ := openScenario(t, bare)
	for i := range hinted.Nodes {
		if n := &hinted.Nodes[i]; n.Name == "n1" {
			out, _ := conf.PressureOptions().Owned().WithHint(n.Object, *d.Changes[0].Hint)
			*n.Object = *out
		}
	}
	if got := possibleNodesOfNewPod(t, hinted); slices.Contains(got, "n1") {
		t.Errorf("with the hint the new pod still goes to %v", got)
	}
	checkNoEvictions(t, hinted, conf)
}

// usageFromSamples returns a function that computes the usage from a number of samples. In each sample, n1 uses 90 %
// of its CPU, and n2 and n3 use 5 %.
func usageFromSamples(conf *config.Config, s *cluster.Snapshot) func(samples int) *cluster.Usage {
	var watches []window.LevelWatch
	for _, r := range conf.HintRules() {
		watches = append(watches, window.LevelWatch{Name: r.WatchName(), Resource: r.Resource, Enter: r.Enter, Leave: r.Leave,
			Below: r.Below, For: r.MinSamples})
	}
	return func(samples int) *cluster.Usage {
		w := window.New(window.Options{Source: "metricsServer", Statistic: window.Latest, Window: 5 * time.Minute,
			MaxAge: 3 * time.Minute, Interval: time.Minute, Watches: watches})
		for i := range samples {
			at := s.TakenAt.Add(time.Duration(i-samples+1) * time.Minute)
			sample := usage.Sample{Taken: at, Nodes: map[string]usage.Reading{}}
			var nodes []usage.Node
			for n, used := range map[string]int64{"n1": 9000, "n2": 500, "n3": 500} {
				sample.Nodes[n] = usage.Reading{At: at, Used: map[string]int64{"cpu": used}}
				nodes = append(nodes, usage.Node{Name: n, Allocatable: cluster.Resources{MilliCPU: 10000, MemoryBytes: 10 << 30},
					Capacity: cluster.Resources{MilliCPU: 10000, MemoryBytes: 10 << 30}})
			}
			w.Add(sample, nodes, nil)
		}
		return w.Usage(s.TakenAt)
	}
}

// possibleNodesOfNewPod returns the nodes on which the scheduler may place the unbound pod "new".
func possibleNodesOfNewPod(t *testing.T, s *cluster.Snapshot) []string {
	t.Helper()
	for i := range s.Pods {
		if s.Pods[i].Object.Name == "new" {
			var names []string
			for _, n := range placement.NewClusterModel(s, placement.Options{}).Predict(s.Pods[i].ID).Gone.Winners {
				names = append(names, s.Nodes[n].Name)
			}
			return names
		}
	}
	t.Fatal("there is no new pod")
	return nil
}

// checkNoEvictions checks that a plan with the usage of two samples has a goal but no move, and rejects four pods as
// bare pods.
func checkNoEvictions(t *testing.T, s *cluster.Snapshot, conf *config.Config) {
	t.Helper()
	objects := *s.Objects
	objects.Usage = usageFromSamples(conf, s)(2)
	again := must.Get(cluster.New(&objects))(t)
	p := planner.New(conf.PlannerOptions()).Plan(again, plan.PlannerState{},
		controller.Goals(again, conf.BuildStrategies(), nil), again.TakenAt)
	if len(p.Goals) == 0 || len(p.Moves) > 0 || p.Rejections.Counts[plan.BarePod] != 4 {
		t.Errorf("goals %v, moves %v, rejections %v; want one goal for n1, no move, and four bare pods", p.Goals, p.Moves, p.Rejections.Counts)
	}
}
