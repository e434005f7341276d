package planverifier

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// maxRivals is the largest number of other replacements for which checkWavePlaces examines every set
// of them. For more of them, it uses the bound of atLeastToTake.
const maxRivals = 10

// checkWavePlaces checks that a replacement of a wave has room on a node other than its own, unless it may return, wherever
// the scheduler places the other replacements, while all evicted pods of the wave still terminate.
func checkWavePlaces(r *verifier, calls []call, wave []replacedPod, settled []*corev1.Pod) {
	for i, c := range calls {
		others := make([]replacedPod, 0, len(wave))
		for j, w := range wave {
			if j != i {
				others = append(others, replacedPod{w.old, placedOn(w.next, "")})
			}
		}
		var nodes []string
		for _, n := range sortedKeys(r.nodes) {
			if len(nodes) <= len(others) && (n != c.move.From || r.mayReturn(c.move)) && r.fitsOn(wave[i].next, n, settled, others) {
				nodes = append(nodes, n)
			}
		}
		if len(others) == 0 || len(nodes) > len(others) {
			continue // each of the others takes the room on at most one node
		}
		if len(others) > maxRivals {
			if atLeastToTake(r, wave[i].next, nodes, settled, others) > len(others) {
				continue
			}
			r.report(c.move, NotInEveryOrder, "%d nodes have room, and the wave places %d other replacements", len(nodes),
				len(others))
			continue
		}
		if canTakeAll(r, wave[i].next, nodes, settled, others) {
			r.report(c.move, NotInEveryOrder, "the other replacements of wave %d can leave it no node", c.move.Wave)
		}
	}
}

// canTakeAll reports whether the others can be placed so that none of the nodes has room for the pod.
// It tries every set of the others on each node in turn, and remembers the sets that are in use.
func canTakeAll(r *verifier, pod *corev1.Pod, nodes []string, settled []*corev1.Pod, others []replacedPod) bool {
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

// atLeastToTake returns a number of others below which they cannot take the room on all nodes: one for a
// node whose room one of them takes alone, and two for each other node.
func atLeastToTake(r *verifier, pod *corev1.Pod, nodes []string, settled []*corev1.Pod,
	others []replacedPod) (count int) {
	for _, n := range nodes {
		count += 2
		for i := range others {
			if takesRoom(r, pod, n, settled, others, func(j int) bool { return j == i }) {
				count--
				break
			}
		}
	}
	return count
}

// takesRoom reports whether the chosen replacements all fit on the node, after the evicted pods have
// gone, and leave no room there for the pod before.
func takesRoom(r *verifier, pod *corev1.Pod, node string, settled []*corev1.Pod, others []replacedPod,
	chosen func(int) bool) bool {
	var there []*corev1.Pod
	crowd := slices.Clone(others)
	for i := range others {
		if !chosen(i) {
			continue
		}
		if !r.fitsOn(others[i].next, node, append(slices.Clip(settled), there...), nil) {
			return false
		}
		crowd[i].next = placedOn(others[i].next, node)
		there = append(there, crowd[i].next)
	}
	return !r.fitsOn(pod, node, settled, crowd)
}

// fitsOn reports whether the pod fits on the node beside the settled pods and both pods of each pair.
func (r *verifier) fitsOn(pod *corev1.Pod, name string, settled []*corev1.Pod, wave []replacedPod) bool {
	next := placedOn(pod, name)
	return admits(r.nodes[name], next) && r.noRoom(next, settled, wave) == "" && r.unevenSpread(next, settled, wave) == "" &&
		r.unmetAffinity(next, settled, wave) == "" && r.noVolume(next, settled, wave) == ""
}

// admits reports whether the labels, the taints and the cordon of a node let a pod run there.
func admits(node *corev1.Node, p *corev1.Pod) bool {
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

// placedOn returns the pod on a node. The copy shares all else with the pod.
func placedOn(p *corev1.Pod, node string) *corev1.Pod {
	q := *p
	q.Spec.NodeName = node
	return &q
}
