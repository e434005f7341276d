package search

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestOrderOfEvictions checks each line of docs/reference/report.md: the first candidate comes before the second,
// whatever the later lines say.
func TestOrderOfEvictions(t *testing.T) {
	type order = cluster.EvictionOrder
	last := order{Priority: 9, Ready: true, DeletionCost: 9, QoS: 2, Age: 9}
	for _, c := range []struct {
		name          string
		first, second candidate
	}{
		{"rank", candidate{rank: -1, benefit: 1, EvictionOrder: last}, candidate{benefit: 5}},
		{"a benefit that is 10 % larger", candidate{benefit: 1, EvictionOrder: last}, candidate{benefit: 0.9}},
		{"priority at less than 10 %", candidate{benefit: 0.901, EvictionOrder: order{Priority: 100, Ready: true, QoS: 2, Age: 9}},
			candidate{benefit: 1, EvictionOrder: order{Priority: 101}}},
		{"the strategy's order", candidate{stated: 1, EvictionOrder: last}, candidate{stated: 2}},
		{"not Ready", candidate{EvictionOrder: order{DeletionCost: 9, QoS: 2, Age: 9}}, candidate{EvictionOrder: order{Ready: true}}},
		{"deletion cost of one owner", candidate{owner: 3, EvictionOrder: order{DeletionCost: -1, QoS: 2, Age: 9}},
			candidate{owner: 3, EvictionOrder: order{DeletionCost: 1}}},
		{"no deletion cost across owners", candidate{owner: 3, EvictionOrder: order{DeletionCost: 9, Age: 9}},
			candidate{owner: 4, EvictionOrder: order{DeletionCost: -9, QoS: 1}}},
		{"QoS before age", candidate{EvictionOrder: order{Age: 9}, size: 9}, candidate{EvictionOrder: order{QoS: 1}}},
		{"age", candidate{benefit: 0.95, EvictionOrder: order{Age: 5}, size: 9}, candidate{benefit: 1, EvictionOrder: order{Age: 6}}},
		{"a slightly larger benefit", candidate{benefit: 1, size: 9}, candidate{benefit: 0.999}},
		{"size", candidate{size: 0.1}, candidate{size: 0.2}},
	} {
		c.first.pod, c.second.pod = 1, 0
		list := []candidate{c.second, c.first}
		twoPods().sortCandidates(list)
		if list[0].pod != 1 {
			t.Errorf("%s: the second candidate comes first", c.name)
		}
	}
}

// TestLaterStart checks that the pod that started later comes first, and that a pod that has not started comes before
// it.
func TestLaterStart(t *testing.T) {
	c, at := twoPods(), metav1.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, start := range []*metav1.Time{{Time: at.Add(-time.Second)}, &at, nil} {
		c.sim.Snapshot.Pods[i].Object.Status.StartTime = start
	}
	list := []candidate{{pod: 0}, {pod: 1}, {pod: 2}}
	c.sortCandidates(list)
	if got := podsOf(list); !slices.Equal(got, []cluster.PodID{2, 1, 0}) {
		t.Errorf("order %v", got)
	}
}

// TestTheOrderIsTotal sorts random lists from random beginnings. The result is always the same, whatever the benefits,
// owners and deletion costs are, and deletion costs never change the places of an owner.
func TestTheOrderIsTotal(t *testing.T) {
	c := &order{sim: &Simulation{Snapshot: &cluster.Snapshot{}}}
	for range 24 {
		c.sim.Snapshot.Pods = append(c.sim.Snapshot.Pods, cluster.Pod{Object: &corev1.Pod{}})
	}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := make([]candidate, 2+r.IntN(22))
		for i := range list {
			list[i] = candidate{pod: cluster.PodID(i), owner: cluster.WorkloadID(r.IntN(4) - 1), rank: r.IntN(2), benefit: float64(70+r.IntN(31)) / 100,
				EvictionOrder: cluster.EvictionOrder{Priority: int32(r.IntN(2)), Ready: r.IntN(2) > 0, DeletionCost: int32(r.IntN(5) - 2),
					QoS: uint8(r.IntN(3)), Age: uint8(r.IntN(3))}, size: float64(r.IntN(3))}
		}
		want := slices.Clone(list)
		c.sortCandidates(want)
		free := slices.Clone(list)
		for i := range free {
			free[i].DeletionCost = 0
		}
		c.sortCandidates(free)
		for i, x := range want {
			if x.owner != free[i].owner {
				t.Fatalf("seed %d: deletion costs change the owner at place %d", seed, i)
			}
			for _, y := range want[i+1:] {
				if x.group == y.group && x.Before(y.EvictionOrder) > 0 || x.group > y.group ||
					x.group == y.group && x.Before(y.EvictionOrder) == 0 && x.owner == y.owner && x.owner >= 0 && x.DeletionCost > y.DeletionCost {
					t.Fatalf("seed %d: %+v before %+v", seed, x, y)
				}
			}
		}
		for range 3 {
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			got := slices.Clone(list)
			if c.sortCandidates(got); !slices.Equal(podsOf(got), podsOf(want)) {
				t.Fatalf("seed %d: %v, and from another beginning %v", seed, podsOf(want), podsOf(got))
			}
		}
	}
}

func podsOf(list []candidate) (out []cluster.PodID) {
	for i := range list {
		out = append(out, list[i].pod)
	}
	return out
}

func twoPods() *order {
	return &order{sim: &Simulation{Snapshot: &cluster.Snapshot{Pods: []cluster.Pod{{Object: &corev1.Pod{}}, {Object: &corev1.Pod{}}, {Object: &corev1.Pod{}}}}}}
}
