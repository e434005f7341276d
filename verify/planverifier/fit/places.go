package fit

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// maxRivals is the largest number of other replacements for which WhyNowhere examines every set
// of them. For more of them, it uses the bound of atLeastToTake.
const maxRivals = 10

// WhyNowhere returns why the other replacements of a wave can leave the pod no node for which may
// is true; empty if the pod has room on one of them wherever the scheduler places the others, while
// all evicted pods of the wave still terminate.
func (r *Cluster) WhyNowhere(pod *corev1.Pod, may func(node string) bool, settled []*corev1.Pod, wave []Replaced) string {
	others := make([]Replaced, 0, len(wave))
	for _, w := range wave {
		others = append(others, Replaced{w.Old, PlacedOn(w.Next, "")})
	}
	var nodes []string
	for _, n := range slices.Sorted(maps.Keys(r.Nodes)) {
		if len(nodes) <= len(others) && may(n) && r.fitsOn(pod, n, settled, others) {
			nodes = append(nodes, n)
		}
	}
	switch {
	case len(others) == 0 || len(nodes) > len(others): // each of the others takes the room on at most one node
	case len(others) > maxRivals:
		if atLeastToTake(r, pod, nodes, settled, others) <= len(others) {
			return fmt.Sprintf("%d nodes have room, and the wave places %d other replacements", len(nodes), len(others))
		}
	case canTakeAll(r, pod, nodes, settled, others):
		return "the other replacements of the wave can leave it no node"
	}
	return ""
}

// canTakeAll reports whether the others can be placed so that none of the nodes has room for the pod.
// It tries every set of the others on each node in turn, and remembers the sets that are in use.
func canTakeAll(r *Cluster, pod *corev1.Pod, nodes []string, settled []*corev1.Pod, others []Replaced) bool {
	used := map[uint]bool{0: true}
	for _, n := range nodes {
		var taking []uint
		for set := uint(1); set < 1<<len(others); set++ {
			has := func(smaller uint) bool { return smaller&^set == 0 }
			chosen := func(i int) bool { return set>>i&1 != 0 }
			if !slices.ContainsFunc(taking, has) && takesRoom(r, pod, n, settled, others, chosen) {
				taking = append(taking, set)
			}
		}
		next := map[uint]bool{}
		for before := range used {
			for _, set := range taking {
				if before&set == 0 {
					next[before|set] = true
				}
			}
		}
		used = next
	}
	return len(used) > 0
}

// maxSets is the largest number of sets of others that atLeastToTake examines for each node.
const maxSets = 5000

// atLeastToTake returns a number of others below which they cannot take the room on all nodes: the sum, over the
// nodes, of the size of the smallest set that takes the room there. It stops when the sum exceeds the number of
// others, or when it has examined maxSets sets for a node: no smaller set takes the room on the nodes that are left.
func atLeastToTake(r *Cluster, pod *corev1.Pod, nodes []string, settled []*corev1.Pod, others []Replaced) int {
	count, examined := len(nodes), 0
	left := slices.Clone(nodes) // sets smaller than size leave room there
	for size := 1; size <= len(others) && len(left) > 0 && count <= len(others); size++ {
		taken := map[string]bool{}
		for set := range setsOf(len(others), size) {
			if examined++; examined > maxSets {
				return count
			}
			chosen := func(i int) bool { return slices.Contains(set, i) }
			for _, n := range left {
				taken[n] = taken[n] || takesRoom(r, pod, n, settled, others, chosen)
			}
		}
		left = slices.DeleteFunc(left, func(n string) bool { return taken[n] })
		count += len(left)
	}
	return count
}

// setsOf yields each set of the given size of the numbers below n, in ascending order. The slice is reused.
func setsOf(n, size int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		set := make([]int, size)
		for i := range set {
			set[i] = i
		}
		for size <= n && yield(set) {
			i := size - 1
			for i >= 0 && set[i] == n-size+i {
				i--
			}
			if i < 0 {
				return
			}
			set[i]++
			for j := i + 1; j < size; j++ {
				set[j] = set[j-1] + 1
			}
		}
	}
}

// takesRoom reports whether the chosen replacements all fit on the node in some order, after the evicted pods have
// gone, and leave no room there for the pod before.
func takesRoom(r *Cluster, pod *corev1.Pod, node string, settled []*corev1.Pod, others []Replaced,
	chosen func(int) bool) bool {
	crowd, there := slices.Clone(others), slices.Clip(settled)
	var left []int
	for i := range others {
		if chosen(i) {
			left = append(left, i)
		}
	}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(i int) bool { return r.fitsOn(others[i].Next, node, there, nil) })
		if i < 0 {
			return false
		}
		crowd[left[i]].Next = PlacedOn(others[left[i]].Next, node)
		there = append(there, crowd[left[i]].Next)
		left = slices.Delete(left, i, i+1)
	}
	return !r.fitsOn(pod, node, settled, crowd)
}

// fitsOn reports whether the pod fits on the node beside the settled pods and both pods of each pair.
func (r *Cluster) fitsOn(pod *corev1.Pod, name string, settled []*corev1.Pod, wave []Replaced) bool {
	next := PlacedOn(pod, name)
	return Admits(r.Nodes[name], next) && r.noRoom(next, settled, wave) == "" && r.unevenSpread(next, settled, wave) == "" &&
		r.unmetAffinity(next, settled, wave) == "" && r.noVolume(next, settled, wave) == ""
}

// Admits reports whether the labels, the taints and the cordon of a node let a pod run there.
func Admits(node *corev1.Node, p *corev1.Pod) bool {
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(p).Match(node); !ok || err != nil {
		return false
	}
	repels := func(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }
	taints := node.Spec.Taints
	if node.Spec.Unschedulable {
		taints = append(slices.Clip(taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	_, repelled := schedulinghelper.FindMatchingUntoleratedTaint(klog.Background(), taints, p.Spec.Tolerations, repels, true)
	return !repelled
}

// PlacedOn returns the pod on a node. The copy shares all else with the pod.
func PlacedOn(p *corev1.Pod, node string) *corev1.Pod {
	q := *p
	q.Spec.NodeName = node
	return &q
}
