package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const denseConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
  hosts: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1, topologyKey: kubernetes.io/hostname}}
guards: {minPodAge: 0s, minReplicas: 1, protect: [PodsWithLocalStorage, DaemonSetPods, SystemCriticalPods, BarePods, Jobs]}
limits: {perPass: unlimited, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: unlimited, perNode: unlimited, perOwner: %d}}
`

// TestLandingsHoldInEveryOrder enumerates, for each wave of at most 5 moves, every combination of the
// other pods: each may still terminate or be gone, and its replacement may be placed or not. The
// predicted node must be feasible in all of them. For each wave of at most 4 moves, it also enumerates
// the nodes of the other replacements. A node other than its own must always remain feasible.
func TestLandingsHoldInEveryOrder(t *testing.T) {
	for _, how := range []string{"own constraints", "spread", "affinity", "anti-affinity"} {
		t.Run(how, func(t *testing.T) {
			checked := 0
			for seed := range uint64(150) {
				checked += checkOrders(t, seed, how)
			}
			if t.Logf("%d states", checked); checked < 100 {
				t.Errorf("%d states are too few", checked)
			}
		})
	}
}

// checkOrders plans on a dense cluster and checks its waves. It returns the number of states.
func checkOrders(t *testing.T, seed uint64, how string) int {
	r := rand.New(rand.NewPCG(seed, 8))
	o := simulation.Dense(r)
	simulation.RelateDense(r, o, how)
	conf := must.Get(config.Load("c", fmt.Appendf(nil, denseConfig, 1+r.IntN(3))))(t)
	s := must.Get(cluster.New(o))(t)
	p := planner.New(conf.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, conf.BuildStrategies(), nil), s.TakenAt)
	m := placement.NewClusterModel(s, placement.Options{})
	checked := 0
	for len(p.Moves) > 0 {
		n := slices.IndexFunc(p.Moves, func(x plan.Move) bool { return x.Wave != p.Moves[0].Wave })
		if n < 0 {
			n = len(p.Moves)
		}
		wave := waveOrder{s, m, p.Moves[:n]}
		if n > 1 && n <= 5 {
			checked += wave.check(t, seed)
		}
		if n > 1 && n <= 4 {
			checked += wave.checkPlaces(t, seed)
		}
		for i := range wave.moves {
			m.Cluster.Move(wave.pod(i), wave.node(wave.moves[i].To))
		}
		p.Moves = p.Moves[n:]
	}
	return checked
}

// waveOrder is a wave and the cluster before it.
type waveOrder struct {
	s     *cluster.Snapshot
	m     *placement.ClusterModel
	moves []plan.Move
}

func (w waveOrder) pod(i int) cluster.PodID         { return w.s.PodByUID(w.moves[i].Pod.UID).ID }
func (w waveOrder) node(name string) cluster.NodeID { return w.s.NodeByName(name).ID }

// check checks every move in every state of the others, and returns the number of states.
func (w waveOrder) check(t *testing.T, seed uint64) (states int) {
	for i := range w.moves {
		var others []int
		for j := range w.moves {
			if j != i {
				others = append(others, j)
			}
		}
		for code := range 1 << (2 * len(others)) {
			states++
			if !w.fits(i, others, code) {
				t.Errorf("seed %d, wave %d: %s does not fit on %s in state %b of %d others", seed, w.moves[i].Wave, w.moves[i].Pod.Name,
					w.moves[i].To, code, len(others))
				break
			}
		}
	}
	return states
}

// fits reports whether move i fits on its node. Two bits of code say for each other move whether its
// replacement is placed, and whether its pod still terminates.
func (w waveOrder) fits(i int, others []int, code int) bool {
	for k, j := range others {
		to := cluster.NoNode
		if code>>(2*k)&1 != 0 {
			to = w.node(w.moves[j].To)
		}
		if code>>(2*k)&2 != 0 {
			w.m.Cluster.PlaceReplacement(w.pod(j), to)
		} else {
			w.m.Cluster.Move(w.pod(j), to)
		}
	}
	defer func() {
		for _, j := range others {
			w.m.Cluster.EndTermination(w.pod(j))
			w.m.Cluster.Move(w.pod(j), w.node(w.moves[j].From))
		}
	}()
	return slices.Contains(w.m.Predict(w.pod(i)).Gone.Feasible, w.node(w.moves[i].To))
}

// checkPlaces checks that each replacement keeps a feasible node wherever the others are placed, and
// returns the number of states.
func (w waveOrder) checkPlaces(t *testing.T, seed uint64) (states int) {
	for i := range w.moves {
		var others []int
		for j := range w.moves {
			if j != i {
				others = append(others, j)
				w.m.Cluster.Move(w.pod(j), cluster.NoNode)
			}
		}
		n, stuck := w.countStuck(i, others, others)
		for _, j := range others {
			w.m.Cluster.Move(w.pod(j), w.node(w.moves[j].From))
		}
		if states += n; stuck > 0 {
			t.Errorf("seed %d, wave %d: %s has no node in %d of %d placements of %d others", seed, w.moves[i].Wave, w.moves[i].Pod.Name,
				stuck, n, len(others))
		}
	}
	return states
}

// countStuck places the replacements of rest on every combination of nodes on which they fit once the
// evicted pods have gone, or on none. It counts the combinations, and those in which move i has no node
// while the evicted pods still terminate.
func (w waveOrder) countStuck(i int, others, rest []int) (states, stuck int) {
	if len(rest) == 0 {
		if !w.keepsNode(i, others) {
			stuck++
		}
		return 1, stuck
	}
	pod := w.pod(rest[0])
	for _, n := range append(w.m.Predict(pod).Gone.Feasible, cluster.NoNode) {
		w.m.Cluster.Move(pod, n)
		more, bad := w.countStuck(i, others, rest[1:])
		states, stuck = states+more, stuck+bad
	}
	w.m.Cluster.Move(pod, cluster.NoNode)
	return states, stuck
}

// keepsNode reports whether move i has a node other than its own while the evicted pods of the others
// still terminate.
func (w waveOrder) keepsNode(i int, others []int) bool {
	placed := make([]cluster.NodeID, len(others))
	for k, j := range others {
		placed[k] = w.m.Cluster.NodeOf(w.pod(j))
		w.m.Cluster.Move(w.pod(j), w.node(w.moves[j].From))
		w.m.Cluster.PlaceReplacement(w.pod(j), placed[k])
	}
	feasible := w.m.Predict(w.pod(i)).Gone.Feasible
	for k, j := range others {
		w.m.Cluster.EndTermination(w.pod(j))
		w.m.Cluster.Move(w.pod(j), placed[k])
	}
	return slices.ContainsFunc(feasible, func(n cluster.NodeID) bool { return n != w.node(w.moves[i].From) })
}
