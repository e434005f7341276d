package impact_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/impact"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

var adviceClusters = flag.Int("advice", 6, "random clusters with advice that TestAdviceIsEnoughAndOneFewerIsNot checks")

const levelAndSpread = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *"}
  hot: {type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.6, memory: 0.6}}}
`

// planning plans with one configuration.
type planning struct {
	t       *testing.T
	conf    *config.Config
	options search.Options
}

func newPlanning(t *testing.T) *planning {
	c := must.Get(config.Load("c", []byte(levelAndSpread)))(t)
	p := &planning{t, c, c.PlannerOptions()}
	p.options.SamplesPerCode = -1
	return p
}

func (p *planning) plan(s *cluster.Snapshot) plan.Plan {
	return planner.New(p.options).Plan(s, plan.PlannerState{}, controller.Goals(s, p.conf.BuildStrategies(), nil), s.TakenAt)
}

// helped returns the unmet goals of the first plan that the plan after the change meets, and the Pending pods that find
// a node.
func (p *planning) helped(s *cluster.Snapshot, change plan.Change) (goals, pods int) {
	p.t.Helper()
	nowSnapshot, before := apply(p.t, s, plan.Change{})
	thenSnapshot, after := apply(p.t, s, change)
	now, then := p.plan(nowSnapshot), p.plan(thenSnapshot)
	left := map[string]bool{}
	for _, g := range then.Goals {
		left[g.Strategy+g.Subject.String()+g.Resource+g.Group] = then.After.Excess[g.ID] > 0
	}
	for _, g := range now.Goals {
		if now.After.Excess[g.ID] > 0 && !left[g.Strategy+g.Subject.String()+g.Resource+g.Group] {
			goals++
		}
	}
	waits := map[string]bool{}
	for _, f := range after.Pods {
		waits[f.Pod.String()] = f.To == ""
	}
	for _, f := range before.Pods {
		if f.To == "" && !waits[f.Pod.String()] {
			pods++
		}
	}
	return goals, pods
}

// category returns the failure category of the workload after a plan with more replicas. The work stays the same.
func (p *planning) category(s *cluster.Snapshot, x *plan.Impact, w *plan.WorkloadImpact, replicas int) int {
	p.t.Helper()
	change := plan.Change{}
	if replicas > w.Replicas {
		change.Replicas = []plan.AddedReplicas{{Count: replicas - w.Replicas, Workload: plan.ObjectRef{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}}}
	}
	after, _ := apply(p.t, s, change)
	done := p.plan(after)
	for _, st := range done.After.Workloads {
		if st.Namespace != w.Namespace || st.Kind != w.Kind || st.Name != w.Name {
			continue
		}
		total, most := 0, 0
		for _, n := range st.Zones {
			total, most = total+n, max(most, n)
		}
		if total < replicas {
			return 0 // a replica is Pending
		}
		if w.Utilization == nil {
			category, _ := plan.FailureCategory(total, most)
			return category
		}
		return plan.FailureCategoryAtUtilization(total, most, *w.Utilization*float64(w.Replicas)/float64(total), x.UtilizationLimit)
	}
	return 0
}

// TestAdviceIsEnoughAndOneFewerIsNot checks advice on random clusters: with these nodes or replicas, a new plan does
// what the advice says, and with one fewer it does not.
func TestAdviceIsEnoughAndOneFewerIsNot(t *testing.T) {
	p := newPlanning(t)
	clusters, nodes, replicas, several, more := 0, 0, 0, 0, 0
	for seed := uint64(0); clusters < *adviceClusters; seed++ {
		if seed == 2000 {
			t.Fatalf("%d clusters with advice among %d", clusters, seed)
		}
		r := rand.New(rand.NewPCG(seed, 36))
		o := simulation.Crowded(r, 4+r.IntN(6), 10, 6)
		if seed%2 == 1 {
			o = simulation.Tight(r)
		}
		s := must.Get(cluster.New(o))(t)
		a := impact.Advisor{Input: impact.Input{Snapshot: s, Options: &p.options, Plan: p.plan(s), Now: s.TakenAt}, MaxPlans: 60,
			Replan: func(s *cluster.Snapshot) (plan.Plan, bool) { return p.plan(s), true }}
		x := impact.Measure(a.Input)
		x.Advice = a.Capacity()
		a.CheckReplicas(&x)
		found := false
		for _, c := range x.Advice.Capacity {
			found, nodes = true, nodes+1
			if goals, pods := p.helped(s, plan.Change{Added: []plan.AddedNodes{c.Nodes}}); goals != c.Goals || pods != c.Pods {
				t.Errorf("seed %d: %+v: %d goals and %d pods", seed, c, goals, pods)
			}
			if c.FewerUntested {
				continue
			}
			fewer := c.Nodes
			if fewer.Count--; fewer.Count > 0 {
				several++
				if goals, pods := p.helped(s, plan.Change{Added: []plan.AddedNodes{fewer}}); goals+pods >= c.Goals+c.Pods {
					t.Errorf("seed %d: %+v: one node fewer is enough", seed, c)
				}
			}
		}
		for i := range x.Workloads {
			w := &x.Workloads[i]
			if !w.Remedy.Checked {
				continue
			}
			found, replicas = true, replicas+1
			if w.Remedy.Replicas > w.Replicas+1 {
				more++
			}
			if got := p.category(s, &x, w, w.Remedy.Replicas); got < w.Remedy.Category {
				t.Errorf("seed %d: %s: category %d with %d replicas, want %d", seed, w.Name, got, w.Remedy.Replicas, w.Remedy.Category)
			}
			if got := p.category(s, &x, w, w.Remedy.Replicas-1); got >= w.Remedy.Category {
				t.Errorf("seed %d: %s: category %d with %d replicas already", seed, w.Name, got, w.Remedy.Replicas-1)
			}
		}
		if found {
			clusters++
		}
	}
	t.Logf("%d clusters: %d advices about nodes, %d of them with several nodes; %d about replicas, %d of them with several more", clusters, nodes, several, replicas, more)
	if nodes == 0 || replicas == 0 || several == 0 && clusters >= 50 {
		t.Error("the clusters do not show all cases")
	}
}
