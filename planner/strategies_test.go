package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

const head = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"

// planExample plans for examples/three-zones.yaml with a configuration. If change is not nil, example applies it to
// the objects first. If due is nil, all strategies are due.
func planExample(t *testing.T, conf string, due []string, change func(*cluster.Objects)) plan.Plan {
	t.Helper()
	o := must.Get(cluster.ReadFiles([]string{"../examples/three-zones.yaml"}, nil))(t)
	if change != nil {
		change(o)
	}
	s := must.Get(cluster.New(o))(t)
	c := must.Get(config.Load("config.yaml", []byte(conf)))(t)
	return planner.New(c.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), due), s.TakenAt)
}

func inputProblems(p plan.Plan) []string {
	var out []string
	for _, in := range p.Inputs {
		for _, problem := range in.Problems {
			out = append(out, in.Source+": "+problem)
		}
	}
	return out
}

// TestNoGoalIsSaid: if a strategy states no goal, the plan reports a problem.
func TestNoGoalIsSaid(t *testing.T) {
	const zones = "  zones: {type: ZoneSpread, schedule: '@hourly'"
	workload := "strategies: strategy zones has no goal: it needs a workload in scope with at least two pods that can run on at least two values of topology.kubernetes.io/zone"
	for name, c := range map[string]struct {
		conf   string
		change func(*cluster.Objects)
		want   string
	}{
		"misspelt key": {conf: "strategies:\n" + zones + ", args: {topologyKey: topology.kubernetes.io/zones}}",
			want: strings.Replace(workload, "io/zone", "io/zones", 1)},
		"no such service": {conf: "strategies:\n" + zones + ", args: {by: service}}",
			want: strings.Replace(workload, "a workload", "a Service", 1), change: func(o *cluster.Objects) { o.Services = nil }},
		"no zone labels": {conf: "strategies:\n" + zones + "}", want: workload, change: func(o *cluster.Objects) {
			for _, n := range o.Nodes {
				delete(n.Labels, limits.ZoneKey)
			}
		}},
		"no such namespace": {conf: "namespaces: {include: [nosuch]}\nstrategies:\n" + zones + "}", want: workload},
		"no node selected":  {conf: "nodeSelector: a=b\nstrategies:\n" + zones + "}", want: workload},
		"no such resource":  {conf: "strategies:\n  gpus: {type: NodeLoad, schedule: '@hourly', args: {target: {example.com/gpu: 0.5}}}", want: "strategies: strategy gpus has no goal: it needs a Ready node with example.com/gpu, in scope and not excluded"},
		"no strategy":       {conf: "strategies: {}", want: "strategies: the configuration has no strategy"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planExample(t, head+c.conf, nil, c.change)
			if got := inputProblems(p); !slices.Contains(got, c.want) {
				t.Errorf("want %q among\n%s", c.want, strings.Join(got, "\n"))
			}
			for _, st := range p.Strategies {
				if st.Goals != 0 || st.Unmet != 0 || st.Due {
					t.Errorf("without goals: %+v", st)
				}
			}
			checkObjects(t, p)
		})
	}
}

// TestMissingPriorityClasses: the plan names each PriorityClass of guards.priorityBelow that the cluster does not have.
func TestMissingPriorityClasses(t *testing.T) {
	const zones = "strategies:\n  zones: {type: ZoneSpread, schedule: '@hourly'"
	global := `guards: guards.priorityBelow names PriorityClass "absent", which the cluster does not have: no pod moves`
	for conf, want := range map[string][]string{
		zones + "}": nil,
		"guards: {priorityBelow: '1000'}\n" + zones + "}":                                  nil,
		"guards: {priorityBelow: absent}\n" + zones + "}":                                  {global},
		"guards: {priorityBelow: absent}\n" + zones + ", guards: {priorityBelow: absent}}": {global},
		zones + ", guards: {priorityBelow: absent}}":                                       {`guards: strategy zones: ` + strings.TrimPrefix(global, "guards: ") + " for it"},
	} {
		got := slices.DeleteFunc(inputProblems(planExample(t, head+conf, nil, nil)), func(s string) bool { return !strings.HasPrefix(s, "guards: ") })
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%q, want %q", conf, got, want)
		}
	}
}

// TestHintsNeedNoStrategy: if hints are enabled, a configuration without strategies is not a problem.
func TestHintsNeedNoStrategy(t *testing.T) {
	const hints = "load: {source: metricsServer}\nhints: {enabled: %t, rules: [{name: cpu, resource: cpu, above: 0.8}]}\nstrategies: {}"
	for enabled, want := range map[bool]bool{true: false, false: true} {
		p := planExample(t, head+fmt.Sprintf(hints, enabled), nil, nil)
		if got := slices.Contains(inputProblems(p), "strategies: the configuration has no strategy"); got != want {
			t.Errorf("hints.enabled %t: the plan reports a missing strategy: %t", enabled, got)
		}
	}
}

// TestStrategiesAreCounted: the plan counts the goals of each strategy separately, also of those that are not due.
func TestStrategiesAreCounted(t *testing.T) {
	p := planExample(t, head+"strategies:\n  zones: {type: ZoneSpread, schedule: '@hourly'}\n  hot: {type: NodeLoad, schedule: '@hourly', args: {target: {cpu: 0.9}}}", []string{"hot"}, nil)
	want := []plan.StrategyState{{Name: "hot", Goals: 3, Due: true}, {Name: "zones", Goals: 4, Unmet: 1}}
	if !slices.Equal(p.Strategies, want) {
		t.Errorf("%+v, want %+v", p.Strategies, want)
	}
	if got := inputProblems(p); len(got) > 0 {
		t.Errorf("unexpected problems: %q", got)
	}
}

// TestDomainsThatAreNotCounted: the plan names a zone that spread goals do not count, with the reason. The nodes of
// such a zone accept no pods, or the pods of the zone could not be scheduled there again.
func TestDomainsThatAreNotCounted(t *testing.T) {
	conf := head + "strategies:\n  zones: {type: ZoneSpread, schedule: '@hourly'}"
	if got := inputProblems(planExample(t, conf, nil, nil)); len(got) > 0 {
		t.Errorf("unexpected problems: %q", got)
	}
	cordon := func(o *cluster.Objects) { o.Nodes[2].Spec.Unschedulable = true }
	if got := inputProblems(planExample(t, conf, nil, cordon)); !slices.Equal(got, []string{"nodes: zone-3 is not counted: n3 is cordoned"}) {
		t.Errorf("cordoned: %q", got)
	}
	unready := func(o *cluster.Objects) { cordon(o); o.Nodes[2].Status.Conditions = nil }
	if got := inputProblems(planExample(t, conf, nil, unready)); !slices.Contains(got,
		"nodes: zone-3 is not counted: n3 is not Ready, cordoned") {
		t.Errorf("not Ready: %q", got)
	}
	taint := func(o *cluster.Objects) {
		o.Nodes[2].Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	}
	if got := inputProblems(planExample(t, conf, nil, taint)); !slices.Equal(got,
		[]string{"nodes: zone-3 is not counted by 2 goals: pods that stand there could not run there again"}) {
		t.Errorf("tainted: %q", got)
	}
}

// TestTimeOfSnapshot: if the snapshot has no time, the plan marks its time as estimated.
func TestTimeOfSnapshot(t *testing.T) {
	conf := head + "strategies: {}"
	if p := planExample(t, conf, nil, nil); p.TakenAtEstimated {
		t.Error("the example must have no time, but it has one")
	}
	if p := planExample(t, conf, nil, func(o *cluster.Objects) { o.TakenAt = time.Time{} }); !p.TakenAtEstimated || p.TakenAt.IsZero() {
		t.Errorf("the time of the snapshot must be the newest timestamp of any object: %+v", p.TakenAt)
	}
}
