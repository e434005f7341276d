package planner_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const byLoad = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer, minCoverage: 0.5}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {basis: load, deviation: {cpu: 0.05, memory: 0.1}}}
`

// clusterWithRandomUsage returns a crowded cluster with random usage. Every third node has 20 CPUs and 80Gi of
// memory.
func clusterWithRandomUsage(seed uint64) *cluster.Objects {
	r := rand.New(rand.NewPCG(seed, 4))
	o := simulation.Crowded(r, 15, 15, 8)
	for i := 0; i < len(o.Nodes); i += 3 {
		o.Nodes[i].Status.Allocatable["cpu"] = resource.MustParse("20")
		o.Nodes[i].Status.Allocatable["memory"] = resource.MustParse("80Gi")
	}
	simulation.RandomUsage(r, o)
	return o
}

func configByUsage(t testing.TB) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(byLoad)))(t)
	return conf
}

// TestPlansByLoadKeepTheirPromiseschecks that no goal is worse after the plan, and that no excess ends below the
// proven residual. The predicted usage of nodes changes by the usage of the moved pods.
func TestPlansByLoadKeepTheirPromises(t *testing.T) {
	moves, byUse, ratios := 0, 0, 0
	for seed := range uint64(40) {
		o := clusterWithRandomUsage(seed)
		s, p := planRandomCluster(t, o, configByUsage(t))
		checkWaves(t, seed, s, p)
		for id, before := range p.Before.Excess {
			if p.After.Excess[id] > before {
				t.Errorf("seed %d: goal %s is worse after the plan", seed, id)
			}
			if p.After.Excess[id] < p.Bound.ResidualByGoal[id] {
				t.Errorf("seed %d: goal %s ends below its proven residual", seed, id)
			}
		}
		if n := len(p.Moves); n < p.Bound.MinForPlan {
			t.Errorf("seed %d: %d moves, proven minimum %d", seed, n, p.Bound.MinForPlan)
		}
		checkUsageAfterPlan(t, seed, s, p)
		moves += len(p.Moves)
		for _, m := range p.Moves {
			if m.Strategy == "hot" {
				byUse++
			}
		}
		if p.Bound.MinForPlan > 0 && float64(len(p.Moves)) <= 1.1*float64(p.Bound.MinForPlan) {
			ratios++
		}
	}
	t.Logf("%d moves, %d of them by load; %d of 40 plans within 1.1 of the bound", moves, byUse, ratios)
	if byUse < 40 {
		t.Errorf("only %d moves by load in all clusters", byUse)
	}
}

// checkUsageAfterPlan computes the CPU usage of each node after the plan from the usage of the moved pods, and
// compares it with the plan. checkUsageAfterPlan returns early if a moved pod has no measurement.
func checkUsageAfterPlan(t *testing.T, seed uint64, s *cluster.Snapshot, p plan.Plan) {
	t.Helper()
	before, after := map[string]plan.NodeState{}, map[string]plan.NodeState{}
	for i := range p.Before.Nodes {
		before[p.Before.Nodes[i].Name], after[p.Before.Nodes[i].Name] = p.Before.Nodes[i], p.After.Nodes[i]
	}
	change := map[string]float64{}
	for _, m := range p.Moves {
		use, known := int64(0), false
		for _, u := range s.Objects.Usage.Pods {
			if u.UID == m.Pod.UID {
				use, known = u.Used["cpu"], true
			}
		}
		if !known {
			if m.Strategy == "hot" {
				t.Errorf("seed %d: step %d evicts a pod with unmeasured usage for a goal by load", seed, m.Step)
			}
			return // other tests cover the estimated usage of unmeasured pods
		}
		change[m.From] -= float64(use)
		change[m.To] += float64(use)
	}
	for name, was := range before {
		size := float64(s.NodeByName(name).Allocatable.MilliCPU)
		got, known := after[name].Used["cpu"]
		if _, was := was.Used["cpu"]; known != was {
			t.Errorf("seed %d: usage of %s known before the plan: %v, after the plan: %v", seed, name, was, known)
		}
		if want := was.Used["cpu"] + change[name]/size; known && math.Abs(got-want) > 2e-4 {
			t.Errorf("seed %d: %s uses %v after the plan, want %v", seed, name, got, want)
		}
	}
}

// TestOrderOfUsageDoesNotMatter: the plan is the same, byte by byte, if the usage is shuffled.
func TestOrderOfUsageDoesNotMatter(t *testing.T) {
	for seed := range uint64(5) {
		o := clusterWithRandomUsage(seed)
		_, first := planRandomCluster(t, o, configByUsage(t))
		r, u := rand.New(rand.NewPCG(seed, 5)), o.Usage
		r.Shuffle(len(u.Nodes), func(i, j int) { u.Nodes[i], u.Nodes[j] = u.Nodes[j], u.Nodes[i] })
		r.Shuffle(len(u.Pods), func(i, j int) { u.Pods[i], u.Pods[j] = u.Pods[j], u.Pods[i] })
		_, second := planRandomCluster(t, o, configByUsage(t))
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) {
			t.Fatalf("seed %d: shuffled usage gives another plan", seed)
		}
	}
}

// TestOnceIsEnough: after the moves of a plan, with the usage of the pods on their new nodes, the next plan moves no
// pod back.
func TestOnceIsEnough(t *testing.T) {
	moved := 0
	for seed := range uint64(20) {
		o := clusterWithRandomUsage(seed)
		s, p := planRandomCluster(t, o, configByUsage(t))
		home := map[string]string{}
		use := map[string]cluster.PodUsage{}
		for _, u := range o.Usage.Pods {
			use[u.UID] = u
		}
		for _, m := range p.Moves {
			pod := s.PodByUID(m.Pod.UID).Object
			home[string(pod.UID)] = m.From
			pod.Spec.NodeName = m.To
			moveUsage(o.Usage, use[m.Pod.UID], m)
		}
		moved += len(p.Moves)
		_, again := planRandomCluster(t, o, configByUsage(t))
		for _, m := range again.Moves {
			if home[m.Pod.UID] == m.To {
				t.Errorf("seed %d: %s goes back to %s", seed, m.Pod, m.To)
			}
		}
	}
	if moved < 40 {
		t.Errorf("%d moves prove too little", moved)
	}
}

func moveUsage(u *cluster.Usage, p cluster.PodUsage, m plan.Move) {
	for i := range u.Nodes {
		for name, n := range p.Used {
			switch u.Nodes[i].Name {
			case m.From:
				u.Nodes[i].Used[name] -= n
			case m.To:
				u.Nodes[i].Used[name] += n
			}
		}
	}
	for i := range u.Pods {
		if u.Pods[i].UID == m.Pod.UID {
			u.Pods[i].Node = m.To
		}
	}
}

// TestByLoadFewPodsMove: without limits, the median plan has at most 1.1 times as many evictions as its lower bound.
func TestByLoadFewPodsMove(t *testing.T) {
	text := `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer, minCoverage: 0.5}
strategies:
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {basis: load, deviation: {cpu: 0.15}}}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited}
`
	conf := must.Get(config.Load("c", []byte(text)))(t)
	var ratios []float64
	moves := 0
	for seed := range uint64(40) {
		_, p := planRandomCluster(t, clusterWithRandomUsage(seed), conf)
		moves += len(p.Moves)
		if p.Bound.MinForPlan > 0 {
			ratios = append(ratios, float64(len(p.Moves))/float64(p.Bound.MinForPlan))
		}
	}
	slices.Sort(ratios)
	median := ratios[len(ratios)/2]
	t.Logf("%d moves; of the proven minimum: median %.2f, most %.2f", moves, median, ratios[len(ratios)-1])
	if moves < 200 || median > 1.1 {
		t.Errorf("%d moves, %.2f of the proven minimum at the median (want 200 or more, at most 1.1)", moves, median)
	}
}

// TestTheStatisticIsNamed: the inputs of a plan name the statistic and the window of the usage.
func TestTheStatisticIsNamed(t *testing.T) {
	for change, want := range map[string]string{
		"{kind: Usage, statistic: p90, windowSeconds: 300}":    "p90 over 5m",
		"{kind: Usage, statistic: mean, windowSeconds: 90}":    "mean over 1m30s",
		"{kind: Usage, statistic: latest, windowSeconds: 300}": "latest",
		"{kind: Usage, statistic: null, windowSeconds: null}":  "",
	} {
		in := planScenario(t, scenario.Read(t, "load-fewest-pods"), change).Inputs
		i := slices.IndexFunc(in, func(in plan.Input) bool {
			return in.Source != "requests" && in.Coverage > 0 && in.Source != "strategies"
		})
		if i < 0 || in[i].Statistic != want {
			t.Errorf("%s: %+v, want %q", change, in, want)
		}
	}
}
