package impact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/impact"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

const spreadZones = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
`

// measure returns the impact on objects.
func measure(t *testing.T, o *cluster.Objects, conf string) plan.Impact {
	t.Helper()
	c := must.Get(config.Load("c", []byte(conf)))(t)
	s := must.Get(cluster.New(o))(t)
	opts := c.PlannerOptions()
	opts.SamplesPerCode = -1
	p := planner.New(opts).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
	return impact.Measure(impact.Input{Snapshot: s, Options: &opts, Plan: p, Now: s.TakenAt})
}

// workload returns the impact on the Deployment d, whose pods are placed as stated. If percent is
// not 0, each pod uses this share of its request.
func workload(t *testing.T, percent int, pods string, changes ...string) plan.WorkloadImpact {
	t.Helper()
	s := scenario.Read(t, "seed-114")
	for _, app := range []string{"a", "b", "c"} {
		changes = append(changes, `{kind: Deployment, metadata: {name: `+app+`}, $patch: delete}`)
	}
	changes = append(changes, `{kind: Deployment, metadata: {name: d}, pods: [`+pods+`]}`)
	if percent > 0 {
		var usage strings.Builder
		for _, n := range []string{"n1", "n2", "n3"} {
			fmt.Fprintf(&usage, `{name: %s, at: "2026-01-01T23:59:30Z", used: {cpu: 2000}}, `, n)
		}
		usage.WriteString("], pods: [")
		i := 0
		for _, part := range strings.Split(pods, ", ") {
			var count int
			var node string
			must.Get(fmt.Sscanf(part, "%d on %s", &count, &node))(t)
			for range count {
				fmt.Fprintf(&usage, `{name: d-6c8f-%02d, node: %s, used: {cpu: %d}}, `, i, node, percent*10)
				i++
			}
		}
		changes = append(changes, `{kind: Usage, nodes: [`+usage.String()+`]}`)
	}
	for _, w := range measure(t, s.Objects(t, changes...), spreadZones).Workloads {
		if w.Name == "d" {
			return w
		}
	}
	t.Fatal("no workload d")
	return plan.WorkloadImpact{}
}

// TestCategoriesAndRemedies: the failure category of six pods over three zones, and of one pod, and what helps.
func TestCategoriesAndRemedies(t *testing.T) {
	const slo = `{kind: Deployment, metadata: {name: d, annotations: {evenkeel.io/zone-slo: "%d"}}}`
	for _, c := range []struct {
		name, pods string
		percent    int
		changes    []string
		category   plan.FailureEffect
		after      plan.RemedyKind
		replicas   int
		slo        plan.SLOState
		others     float64 // utilization of the remaining pods
	}{
		{"6/0/0", "6 on n1", 40, nil, plan.FailureEffect{Category: 1, Certain: true}, plan.RemedyPlan, 0, "", 0},
		{"1/1/4", "1 on n1, 1 on n2, 4 on n3", 40, nil, plan.FailureEffect{Category: 2, Certain: true}, plan.RemedyPlan, 0, "", 1.2},
		{"2/2/2 at 80 %", "2 on n1, 2 on n2, 2 on n3", 80, nil, plan.FailureEffect{Category: 3, Certain: true}, plan.RemedyReplicas, 9, "", 1.2},
		{"2/2/2 at 40 %", "2 on n1, 2 on n2, 2 on n3", 40, nil, plan.FailureEffect{Category: 4, Certain: true}, plan.RemedyNone, 0, "", 0.6},
		{"one replica", "1 on n1", 40, nil, plan.FailureEffect{Category: 1, Certain: true}, plan.RemedyReplicas, 2, "", 0},
		{"an SLO is missed", "2 on n1, 2 on n2, 2 on n3", 80, []string{fmt.Sprintf(slo, 4)}, plan.FailureEffect{Category: 3, Certain: true},
			plan.RemedyReplicas, 9, plan.SLOMissed, 1.2},
		{"an SLO is met", "2 on n1, 2 on n2, 2 on n3", 40, []string{fmt.Sprintf(slo, 4)}, plan.FailureEffect{Category: 4, Certain: true},
			plan.RemedyNone, 0, plan.SLOMet, 0.6},
		{"an SLO of 4 without usage", "2 on n1, 2 on n2, 2 on n3", 0, []string{fmt.Sprintf(slo, 4)}, plan.FailureEffect{Category: 3},
			plan.RemedyUsage, 0, plan.SLOUnknown, 0},
		{"an SLO of 3 without usage", "2 on n1, 2 on n2, 2 on n3", 0, []string{fmt.Sprintf(slo, 3)}, plan.FailureEffect{Category: 3},
			plan.RemedyNone, 0, plan.SLOMet, 0},
		{"bound to one zone", "3 on n1", 0, []string{`{kind: Deployment, metadata: {name: d}, spec: {template: {spec: {nodeSelector: {topology.kubernetes.io/zone: zone-1}}}}}`},
			plan.FailureEffect{Category: 1, Certain: true}, plan.RemedyZones, 0, "", 0},
		{"must not be evicted", "1 on n1, 3 on n2", 0, []string{`{kind: Deployment, metadata: {name: d, annotations: {evenkeel.io/evict: never}}}`},
			plan.FailureEffect{Category: 2, Certain: true}, plan.RemedyReplicas, 6, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workload(t, c.percent, c.pods, c.changes...)
			if w.Category != c.category || w.Remedy.Kind != c.after || w.Remedy.Replicas != c.replicas || w.SLO != c.slo {
				t.Errorf("category %+v, remedy %+v, SLO %q; want %+v, %s with %d replicas, %q", w.Category, w.Remedy, w.SLO, c.category, c.after, c.replicas, c.slo)
			}
			for _, z := range w.Zones {
				if worst := z.FailureEffect == w.Category; worst && c.others > 0 && (z.Utilization == nil || *z.Utilization != c.others) {
					t.Errorf("zone %+v, want a utilization of %v", z, c.others)
				}
			}
		})
	}
}
