package passes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// allStrategies runs every type of strategy in every pass, without limits. GUARDS, SCORE and STEER are those of a
// conflictForm.
const allStrategies = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
guards: {GUARDS}
strategies:
  zones: {type: ZoneSpread, schedule: "*/20 * * * *"}
  constraints: {type: TopologySpread, schedule: "*/20 * * * *"}
  duplicates: {type: Duplicates, schedule: "*/20 * * * *"}
  apart: {type: InterPodAntiAffinity, schedule: "*/20 * * * *"}
  hot-nodes: {type: NodeLoad, schedule: "*/20 * * * *", args: {target: {cpu: 0.75, memory: 0.75}}}
  empty: {type: NodeConsolidation, schedule: "*/20 * * * *", args: {below: {cpu: 0.3, memory: 0.3}, target: {cpu: 0.7, memory: 0.7}, maxNodes: 100}}
  crashing: {type: Restarts, schedule: "*/20 * * * *", args: {minRestarts: 100}}
  old: {type: Lifetime, schedule: "*/20 * * * *", args: {maxAge: 168h}}
  failed: {type: FailedPods, schedule: "*/20 * * * *"}
  affinity: {type: NodeAffinity, schedule: "*/20 * * * *", args: {preferred: true}}
  taints: {type: NodeTaints, schedule: "*/20 * * * *", args: {preferNoSchedule: true}}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
placement: {profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: SCORE}}}]}]}
evictor: {steer: STEER, perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: unlimited}}
`

// passesPerState is the number of passes between two changes of the cluster.
const passesPerState = 3

// conflictForm is one form of the test.
type conflictForm struct {
	name, score, guards, steer string
	// maxLateShare is the largest share of evictions in the last pass of a state. A move is
	// sometimes possible only after other moves have landed, and a pass replans once only.
	maxLateShare float64
	// maxAgainShare is the largest share of evictions of replacements, long after their back-off. A
	// replacement that lands on another acceptable node than the likeliest one meets the goal of
	// its move, but maybe not the others that the plan met with it. NodeConsolidation may empty a
	// node a pass after other strategies have moved a few pods there.
	maxAgainShare float64
}

// nearlyCertain are guards with nearly certain landings. They keep apart what the strategies do to each other, and
// what chance does. With the default guards, some replacements land elsewhere, and other moves follow from that.
const nearlyCertain = "minPodAge: 0s, minConfidence: 0.99"

var conflictForms = []conflictForm{
	{"default", "LeastAllocated", nearlyCertain, "none", 0.001, 0.005},
	{"mostAllocated", "MostAllocated", nearlyCertain, "none", 0.001, 0.005},
	{"default guards and steering", "LeastAllocated", "", "taint", 0.005, 0.02},
	{"default guards, mostAllocated", "MostAllocated", "", "none", 0.005, 0.02},
}

// TestStrategiesDoNotConflict runs all strategies on a cluster of 100 nodes, which changes after
// every third pass. No pod moves within its back-off, and nearly none moves twice between two
// changes. The first two passes make nearly all moves.
func TestStrategiesDoNotConflict(t *testing.T) {
	states, seeds := 5, 1
	if *long {
		states, seeds = 30, 10
	}
	for _, x := range conflictForms {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("SCORE", x.score, "GUARDS", x.guards, "STEER", x.steer).Replace(allStrategies)
			conf := must.Get(config.Load("all", []byte(text)))(t)
			checkTypes(t, conf)
			var sum conflictCounts
			for seed := range seeds {
				sum.run(t, startDiverse(Scenario{Nodes: 100, Pods: 2000, Seed: uint64(seed), EveryMinutes: 20,
					Churn: Churn{Rollouts: 12, Scalings: 12, Joins: 3, Leaves: 3}}, conf), states)
			}
			t.Logf("%d evictions, %d of them in the last pass of a state, %d of pods that moved in the hour before, %d of them after a landing as planned",
				sum.evictions, sum.late, sum.again, sum.afterPlan)
			if float64(sum.late) > x.maxLateShare*float64(sum.evictions) || float64(sum.again) > x.maxAgainShare*float64(sum.evictions) {
				t.Errorf("want at most %v of the evictions in the last pass of a state, and %v of pods that moved before", x.maxLateShare, x.maxAgainShare)
			}
		})
	}
}

// conflictCounts counts evictions of all passes, of the last passes of states, and of pods that
// moved in the hour before.
type conflictCounts struct{ evictions, late, again, afterPlan int }

// run changes the cluster and runs passes, for a number of states.
func (n *conflictCounts) run(t *testing.T, c *Simulation, states int) {
	t.Helper()
	for state := range states {
		if state > 0 {
			c.applyChurn()
			c.addViolations()
			c.now = c.now.Add(time.Duration(c.EveryMinutes) * time.Minute) // new pods may be evicted now
		}
		for pass := range passesPerState {
			got := c.runPass()
			at := fmt.Sprintf("seed %d, state %d, pass %d", c.Seed, state, pass+1)
			t.Logf("%s: %d evictions, %d ended pods removed, %d landed elsewhere, %d moved before, %d pending, %d empty nodes", at,
				got.Evictions, got.Removed, got.LandedElsewhere, got.EvictedAgain, got.Pending, c.emptyNodes())
			if got.EvictedAgainSoon > 0 || got.BackedOff > 0 || got.Pending > 0 {
				t.Errorf("%s moves %d pods again and %d pods of workloads in back-off, and leaves %d pods Pending:\n%s", at,
					got.EvictedAgainSoon, got.BackedOff, got.Pending, c.describeMoves())
			}
			if last := pass == passesPerState-1; last || got.EvictedAgain > 0 {
				t.Logf("%s moves:\n%s", at, c.describeMoves())
				if last {
					n.late += got.Evictions + got.Removed
				}
			}
			n.evictions += got.Evictions
			n.again += got.EvictedAgain
			for _, both := range got.EvictedAfterPlan {
				t.Logf("%s: again after a landing as planned: %s", at, both)
			}
			n.afterPlan += len(got.EvictedAfterPlan)
			for _, both := range got.Conflicts {
				t.Errorf("%s: two strategies move a pod in turns, and chance does not explain it: %s", at, both)
			}
			c.now = c.now.Add(time.Duration(c.EveryMinutes) * time.Minute)
		}
	}
}

// emptyNodes returns the number of nodes without pods.
func (c *Simulation) emptyNodes() int {
	used := map[string]bool{}
	for _, p := range c.o.Pods {
		used[p.Spec.NodeName] = true
	}
	n := 0
	for _, node := range c.o.Nodes {
		if !used[node.Name] {
			n++
		}
	}
	return n
}

// checkTypes checks that the configuration has every type of strategy.
func checkTypes(t *testing.T, conf *config.Config) {
	t.Helper()
	for _, typ := range strategies.Types() {
		if !slices.ContainsFunc(conf.Strategies, func(s config.Strategy) bool { return s.Type == typ }) {
			t.Errorf("the configuration has no strategy of type %s", typ)
		}
	}
}

// startDiverse is Start with something to repair for each strategy.
func startDiverse(sc Scenario, conf *config.Config) *Simulation {
	c := Start(sc, conf)
	simulation.Diverse(c.r, c.o)
	for _, p := range c.o.Pods {
		if c.histories[string(p.UID)] == nil {
			c.histories[string(p.UID)] = &podHistory{unmet: map[unmetGoal]bool{}}
		}
	}
	return c
}

// addViolations lets containers restart and pods fail, and changes taints.
func (c *Simulation) addViolations() {
	for i, p := range c.o.Pods {
		if c.r.IntN(500) > 0 || p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
			continue
		}
		changed := *p
		changed.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: 200, Ready: true}}
		c.o.Pods[i] = &changed
	}
	i := c.r.IntN(len(c.o.Nodes))
	n := c.o.Nodes[i].DeepCopy()
	if n.Spec.Taints == nil {
		n.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule}}
	} else {
		n.Spec.Taints = nil
	}
	c.o.Nodes[i] = n
}

// describeMoves lists the moves of the latest plan with their strategies and reasons.
func (c *Simulation) describeMoves() string {
	var b strings.Builder
	for i, m := range c.latest.Moves {
		if i == 20 {
			fmt.Fprintf(&b, "  and %d more\n", len(c.latest.Moves)-i)
			break
		}
		fmt.Fprintf(&b, "  %s\n", describeMove(m))
	}
	return b.String()
}

func describeMove(m plan.Move) string {
	return fmt.Sprintf("%s from %s to %s for %s: %s", m.Pod.Name, m.From, m.To, m.Strategy, m.Reason.Message)
}
