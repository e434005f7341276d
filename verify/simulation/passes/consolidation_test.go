package passes

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// emptyingConfig empties nodes every hour. The scheduler has its default scores, so it prefers empty nodes; hints
// steer it away from them. KEEP is keepEmptyFor.
const emptyingConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
guards: {minPodAge: 0s}
strategies:
  empty: {type: NodeConsolidation, schedule: "0 * * * *",
  args: {below: {cpu: 0.3, memory: 0.3}, target: {cpu: 0.85, memory: 0.85}, maxNodes: 1000, keepEmptyFor: %s}}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}, steer: taint}
`

// emptyingPasses is the number of hourly passes. They last longer than a hint, 24 hours.
const emptyingPasses = 30

// emptyingFigures count over all passes.
type emptyingFigures struct {
	emptied, evictions int
	// filled is the number of emptied nodes on which a pod landed later.
	filled int
	// pending is the largest number of Pending pods after a pass.
	pending int
	// created is the number of pods that churn created.
	created int
}

// TestEmptiedNodesStayEmpty runs the controller for 30 hours on a cluster whose Deployments roll out and scale. The
// simulated scheduler has its default scores and sees the hints. No pod lands on an emptied node, because the
// controller renews the hints. Without the hints, most of the emptied nodes fill up.
func TestEmptiedNodesStayEmpty(t *testing.T) {
	size, seeds := 30, 1
	if *long {
		size, seeds = 100, 3
	}
	for seed := range seeds {
		kept := runEmptying(t, size, uint64(seed), "24h")
		t.Logf("seed %d, %d nodes: with hints %+v", seed, size, kept)
		if kept.emptied < size/5 || kept.created < 10*size {
			t.Errorf("seed %d: %d nodes emptied, %d pods created; want more", seed, kept.emptied, kept.created)
		}
		if kept.filled > 0 || kept.pending > 0 {
			t.Errorf("seed %d: pods landed on %d of %d emptied nodes, %d pods are Pending; want 0", seed, kept.filled, kept.emptied, kept.pending)
		}
	}
	without := runEmptying(t, size, 0, "0s")
	t.Logf("seed 0, %d nodes: without hints that stay %+v", size, without)
	if without.filled < without.emptied/2 {
		t.Errorf("without hints that stay, pods landed on %d of %d emptied nodes only, so the test proves little", without.filled, without.emptied)
	}
}

func runEmptying(t *testing.T, nodes int, seed uint64, keep string) (n emptyingFigures) {
	t.Helper()
	conf := must.Get(config.Load("empty", fmt.Appendf(nil, emptyingConfig, keep)))(t)
	c := &liveSimulation{Simulation: Start(Scenario{Nodes: nodes, Pods: 14 * nodes, Seed: seed, EveryMinutes: 60,
		Churn: Churn{Rollouts: 0.03 * float64(nodes), Scalings: 0.06 * float64(nodes)}}, conf)}
	clock := clocktesting.NewFakeClock(c.now)
	control := c.controller(clock)
	emptied := map[string]bool{}
	count := func() {
		for _, p := range c.o.Pods {
			if emptied[p.Spec.NodeName] {
				n.filled++
				delete(emptied, p.Spec.NodeName)
			}
		}
	}
	for pass := range emptyingPasses {
		if pass > 0 {
			half := time.Duration(c.EveryMinutes) * time.Minute / 2
			c.now = c.now.Add(half)
			c.applyChurn()
			c.now = c.now.Add(half)
			clock.SetTime(c.now)
			n.created += c.placed
			count()
		}
		r := must.Get(control.RunOnce(t.Context(), nil))(t)
		count()
		for _, g := range r.Plan.Goals {
			if g.Kind == plan.NodeEmpty && r.Plan.After.Excess[g.ID] == 0 && c.isEmpty(g.Subject.Name) {
				n.emptied++
				emptied[g.Subject.Name] = true
			}
		}
		n.evictions += len(r.Outcomes)
		pending := 0
		for _, p := range c.o.Pods {
			if p.Spec.NodeName == "" {
				pending++
			}
		}
		n.pending = max(n.pending, pending)
	}
	return n
}

// liveSimulation lets a controller observe and change the simulated cluster. The state of the planner is in its store.
type liveSimulation struct {
	*Simulation
	stored plan.PlannerState
}

func (c *liveSimulation) controller(clock *clocktesting.FakeClock) *controller.Controller {
	p := planner.New(c.conf.PlannerOptions())
	return &controller.Controller{
		Settings: controller.Settings{Planner: p, Strategies: c.conf.BuildStrategies(), Mode: plan.Live,
			Steer: hints.Kind(c.conf.Evictor.Steer), History: c.conf.HistoryOptions(),
			Breaker: c.conf.BreakerOptions()},
		Dependencies: controller.Dependencies{Observer: c, Evictor: c, HintWriter: c, Store: c, Holder: "simulation",
			Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Recorder: discard{},
			NewRunID: func() string { return c.now.Format(time.RFC3339) }, OnReport: func(plan.RunReport) {}},
	}
}

type discard struct{}

func (discard) RecordPass(plan.RunReport)             {}
func (discard) RecordSkipped([]string)                {}
func (discard) RecordNextPasses(map[string]time.Time) {}
func (discard) RecordState(bool, []time.Time)         {}
func (discard) RecordWaiting(map[string]int)          {}

// Snapshot implements controller.Observer.
func (c *liveSimulation) Snapshot(context.Context) (*cluster.Snapshot, error) {
	return c.takeSnapshot(), nil
}

// EvictWave implements evictor.Evictor. The scheduler sees the hints of the wave.
func (c *liveSimulation) EvictWave(_ context.Context, moves []plan.Move, bound func()) evictor.Result {
	outcomes := c.evict(c.takeSnapshot(), moves, plan.WaveHints{}, &Pass{})
	if bound != nil {
		bound()
	}
	return evictor.Result{Outcomes: outcomes}
}

// Put implements controller.HintWriter.
func (c *liveSimulation) Put(_ context.Context, list []hints.Hint) error {
	for _, h := range list {
		c.changeNode(h.Node, func(n *corev1.Node) (*corev1.Node, bool) { return hints.WithHint(n, h) })
	}
	return nil
}

// Remove implements controller.HintWriter.
func (c *liveSimulation) Remove(_ context.Context, nodes []string, which func(hints.Hint) bool) (removed []string, _ error) {
	for _, name := range nodes {
		c.changeNode(name, func(n *corev1.Node) (*corev1.Node, bool) {
			if h, ours := hints.FromNode(n); !ours || !which(h) {
				return n, false
			}
			removed = append(removed, name)
			return hints.Remove(n)
		})
	}
	return removed, nil
}

// Load implements controller.StateStore.
func (c *liveSimulation) Load(context.Context) (plan.PlannerState, error) { return c.stored, nil }

// Save implements controller.StateStore.
func (c *liveSimulation) Save(_ context.Context, st plan.PlannerState) error {
	c.stored = st
	return nil
}

func (c *liveSimulation) isEmpty(node string) bool {
	return !slices.ContainsFunc(c.o.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == node })
}
