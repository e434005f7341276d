package planner_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const twoStrategies = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.7, memory: 0.7}}}
`

func planRandomCluster(t testing.TB, o *cluster.Objects, conf *config.Config) (*cluster.Snapshot, plan.Plan) {
	t.Helper()
	s := must.Get(cluster.New(o))(t)
	opts := conf.PlannerOptions()
	opts.SamplesPerCode = -1
	return s, planner.New(opts).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
}

func configWithTwoStrategies(t testing.TB) *config.Config {
	t.Helper()
	conf := must.Get(config.Load("c", []byte(twoStrategies)))(t)
	return conf
}

// TestOrderOfObjectsDoesNotMatter: the plan is the same, byte by byte, if the objects are shuffled.
func TestOrderOfObjectsDoesNotMatter(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := simulation.Crowded(r, 12, 12, 8)
		_, first := planRandomCluster(t, o, configWithTwoStrategies(t))
		if len(first.Moves) == 0 {
			t.Fatalf("seed %d: nothing to move", seed)
		}
		r.Shuffle(len(o.Nodes), func(i, j int) { o.Nodes[i], o.Nodes[j] = o.Nodes[j], o.Nodes[i] })
		r.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
		r.Shuffle(len(o.ReplicaSets), func(i, j int) { o.ReplicaSets[i], o.ReplicaSets[j] = o.ReplicaSets[j], o.ReplicaSets[i] })
		r.Shuffle(len(o.Deployments), func(i, j int) { o.Deployments[i], o.Deployments[j] = o.Deployments[j], o.Deployments[i] })
		_, second := planRandomCluster(t, o, configWithTwoStrategies(t))
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if string(a) != string(b) {
			t.Fatalf("seed %d: shuffled objects give another plan", seed)
		}
	}
}

// TestPlansKeepTheirPromises checks random plans independently of the planner's code. Waves respect budgets and caps,
// and the plan respects limits and bounds. No goal is worse after the plan.
func TestPlansKeepTheirPromises(t *testing.T) {
	for seed := range uint64(40) {
		o := simulation.Crowded(rand.New(rand.NewPCG(seed, 2)), 15, 15, 8)
		conf := configWithTwoStrategies(t)
		s, p := planRandomCluster(t, o, conf)
		checkWaves(t, seed, s, p)
		if got := len(p.Moves); got < p.Bound.MinEvictions && sumExcess(p) == 0 {
			t.Errorf("seed %d: %d moves meet every goal, below the proven minimum %d", seed, got, p.Bound.MinEvictions)
		}
		if got := len(p.Moves); got < p.Bound.MinForPlan || sumExcess(p) == 0 && p.Bound.MinForPlan != p.Bound.MinEvictions {
			t.Errorf("seed %d: %d moves; lower bound for the plan %d, for the goals %d", seed, got, p.Bound.MinForPlan, p.Bound.MinEvictions)
		}
		for id, stays := range p.Bound.ResidualByGoal {
			if p.After.Excess[id] < stays {
				t.Errorf("seed %d: goal %s ends with excess %v, below the proven residual %v", seed, id, p.After.Excess[id], stays)
			}
		}
		for id, before := range p.Before.Excess {
			if p.After.Excess[id] > before {
				t.Errorf("seed %d: goal %s is worse after the plan", seed, id)
			}
		}
	}
}

func sumExcess(p plan.Plan) (sum float64) {
	for _, x := range p.After.Excess {
		sum += x
	}
	return sum
}

func checkWaves(t *testing.T, seed uint64, s *cluster.Snapshot, p plan.Plan) {
	t.Helper()
	type inWave struct {
		wave int
		what string
	}
	count := map[inWave]int{}
	perNode := map[string]int{}
	moved := map[string]bool{}
	for _, m := range p.Moves {
		pod := s.PodByUID(m.Pod.UID)
		if moved[m.Pod.UID] || m.From == m.To || m.Confidence < 0.9 {
			t.Errorf("seed %d: bad move %+v", seed, m)
		}
		moved[m.Pod.UID] = true
		perNode[m.From]++
		count[inWave{m.Wave, "total"}]++
		count[inWave{m.Wave, "node " + m.From}]++
		count[inWave{m.Wave, "owner " + m.Owner.Name}]++
		if perNode[m.From] > 5 || count[inWave{m.Wave, "total"}] > 16 || count[inWave{m.Wave, "node " + m.From}] > 2 ||
			count[inWave{m.Wave, "owner " + m.Owner.Name}] > 1 {
			t.Errorf("seed %d: step %d breaks a cap", seed, m.Step)
		}
		for _, b := range s.Budgets {
			if b.Object.Namespace == pod.Object.Namespace && b.Object.Spec.Selector.MatchLabels["app"] == pod.Object.Labels["app"] {
				key := inWave{m.Wave, "pdb " + b.Object.Name}
				if count[key]++; count[key] > int(b.Object.Status.DisruptionsAllowed) {
					t.Errorf("seed %d: step %d exceeds budget %s", seed, m.Step, b.Object.Name)
				}
			}
		}
	}
	if len(p.Moves) > 50 {
		t.Errorf("seed %d: %d moves, over limits.perPass", seed, len(p.Moves))
	}
}

// BenchmarkPlan plans on 500 nodes and 10,000 pods with default limits.
func BenchmarkPlan(b *testing.B) {
	o := simulation.Crowded(rand.New(rand.NewPCG(1, 3)), 500, 500, 20)
	s := must.Get(cluster.New(o))(b)
	conf := configWithTwoStrategies(b)
	b.ReportAllocs()
	for b.Loop() {
		goals := controller.Goals(s, conf.BuildStrategies(), nil)
		planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	}
}
