package planverifier_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// denseSettings lets a wave take many pods, so that its moves depend on each other.
const denseSettings = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  spread: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1, topologyKey: %s}}
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.9}}}
guards: {minPodAge: 0s, maxGracePeriod: 1h, minReplicas: 1, protect: [PodsWithLocalStorage, DaemonSetPods, SystemCriticalPods, BarePods, Jobs]}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: %d}}
`

// TestMovesHoldInEveryOrder plans on a thousand dense clusters. Every replacement must fit on its
// node in every order of its wave. In other clusters, workloads also depend on each other by
// required topology spread or (anti-)affinity.
func TestMovesHoldInEveryOrder(t *testing.T) {
	t.Parallel()
	for how, clusters := range map[string]int{"own constraints": plans, "spread": plans / 4, "affinity": plans / 2, "anti-affinity": plans / 4} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			checkDensePlans(t, clusters, how)
		})
	}
}

func checkDensePlans(t *testing.T, clusters int, how string) {
	withMoves, moves, bad := 0, 0, 0
	for seed := range uint64(clusters) {
		r := rand.New(rand.NewPCG(seed, 8))
		o := simulation.Dense(r)
		key := []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}[r.IntN(2)]
		inFlight := 1 + r.IntN(2)
		simulation.RelateDense(r, o, how)
		p, rules := makePlanFor(t, o, fmt.Sprintf(denseSettings, key, inFlight), o.TakenAt, plan.PlannerState{})
		if len(p.Moves) > 0 {
			withMoves++
		}
		moves += len(p.Moves)
		for _, v := range planverifier.Check(o, rules, p, o.TakenAt) {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	t.Logf("%d plans with moves, %d moves, %d violations", withMoves, moves, bad)
	if withMoves < clusters/2 {
		t.Errorf("only %d plans have moves, want at least %d", withMoves, clusters/2)
	}
}
