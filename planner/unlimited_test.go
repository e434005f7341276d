package planner_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/simtest"
)

const unlimited = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {minPodAge: 0s}
strategies:
- {name: hot, type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// BenchmarkPlanUnlimited plans on 500 nodes and 10,000 pods without limits, and
// says how many moves its waves hold.
func BenchmarkPlanUnlimited(b *testing.B) {
	s, err := cluster.New(simtest.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20))
	if err != nil {
		b.Fatal(err)
	}
	conf, err := config.Load("c", []byte(unlimited))
	if err != nil {
		b.Fatal(err)
	}
	goals := controller.Goals(s, conf.Build(), nil)
	var p plan.Plan
	for b.Loop() {
		p = planner.New(conf.Planner()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	}
	waves := map[int]int{}
	for _, m := range p.Moves {
		waves[m.Wave]++
	}
	b.ReportMetric(float64(len(p.Moves)), "moves")
	b.ReportMetric(float64(len(waves)), "waves")
	b.ReportMetric(float64(waves[1]), "in-first")
}
