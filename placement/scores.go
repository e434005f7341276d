package placement

import (
	"fmt"
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// maxScore is what the best node of a plugin gets before the weight.
const maxScore = 100

// Weights multiply the plugins' scores of 0..100.
type Weights struct {
	TaintToleration    int64
	NodeAffinity       int64
	PodTopologySpread  int64
	InterPodAffinity   int64
	LeastAllocated     int64
	BalancedAllocation int64
	ImageLocality      int64
	VolumeBinding      int64
}

// DefaultWeights are those of the default profile (kube-scheduler
// apis/config/v1, getDefaultPlugins).
var DefaultWeights = Weights{
	TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
	LeastAllocated: 1, BalancedAllocation: 1, ImageLocality: 1, VolumeBinding: 1,
}

// The score plugins, as indexes of scratch.scores.
const (
	scoreTaints = iota
	scoreNodeAffinity
	scoreSpread
	scoreInterPod
	scoreLeast
	scoreBalanced
	scoreImages
	scoreVolumes
	scorePlugins
)

var scoreNames = [scorePlugins]string{
	"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality", "VolumeBinding",
}

func (w Weights) list() [scorePlugins]int64 {
	return [scorePlugins]int64{
		w.TaintToleration, w.NodeAffinity, w.PodTopologySpread, w.InterPodAffinity,
		w.LeastAllocated, w.BalancedAllocation, w.ImageLocality, w.VolumeBinding,
	}
}

// fixedScores are the parts of the scores that no other pod changes, by node.
type fixedScores struct {
	taints    []int64 // untolerated PreferNoSchedule taints
	preferred []int64 // sum of matching preferred node affinity weights; nil: none
	images    []int64 // nil: no image of the pod is on any node
	volumes   []int64 // VolumeBinding; nil: the pod has no claims
}

func (w *World) fixedScores(pod *corev1.Pod) (fixedScores, error) {
	f := fixedScores{taints: make([]int64, len(w.snap.Nodes))}
	for i := range w.snap.Nodes {
		f.taints[i] = disliked(w.snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	f.images = w.imageScores(pod)
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return f, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return f, fmt.Errorf("reading the preferred node affinity: %w", err)
	}
	f.preferred = make([]int64, len(w.snap.Nodes))
	for i := range w.snap.Nodes {
		f.preferred[i] = terms.Score(w.snap.Nodes[i].Object)
	}
	return f, nil
}

// disliked counts the PreferNoSchedule taints that nothing tolerates.
func disliked(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var count int64
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelper.TolerationsTolerateTaint(logr.Discard(), tolerations, &taints[i], comparisonOperators) {
			count++
		}
	}
	return count
}

// score fills the scratch's normalised scores and totals of the feasible nodes.
func (r *round) score(feasible []cluster.NodeID) {
	b := &r.w.buf
	for i := range b.scores {
		b.scores[i] = resized(b.scores[i], len(feasible))
	}
	b.total = resized(b.total, len(feasible))
	f := &r.in.fixed
	for i, n := range feasible {
		b.scores[scoreTaints][i] = f.taints[n]
	}
	normalise(b.scores[scoreTaints], true)
	if f.preferred != nil {
		for i, n := range feasible {
			b.scores[scoreNodeAffinity][i] = f.preferred[n]
		}
		normalise(b.scores[scoreNodeAffinity], false)
	}
	if f.images != nil {
		for i, n := range feasible {
			b.scores[scoreImages][i] = f.images[n]
		}
	}
	if f.volumes != nil {
		for i, n := range feasible {
			b.scores[scoreVolumes][i] = f.volumes[n]
		}
	}
	r.scoreSpread(feasible, b.scores[scoreSpread])
	r.scoreInterPod(feasible, b.scores[scoreInterPod])
	r.scoreResources(feasible, b.scores[scoreLeast], b.scores[scoreBalanced])
	for k, weight := range r.w.weights.list() {
		if r.idleScore(k) {
			continue
		}
		for i, s := range b.scores[k] {
			b.total[i] += weight * s
		}
	}
}

// idleScore reports that a plugin gives every node 0.
func (r *round) idleScore(k int) bool {
	switch in := r.in; k {
	case scoreNodeAffinity:
		return in.fixed.preferred == nil
	case scoreImages:
		return in.fixed.images == nil
	case scoreVolumes:
		return in.fixed.volumes == nil
	case scoreInterPod:
		return len(in.inter.scored) == 0
	case scoreSpread:
		return len(in.spread.soft) == 0
	}
	return false
}

func resized(s []int64, n int) []int64 {
	if cap(s) < n {
		return make([]int64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// normalise stretches counts to 0..100 of the largest; with reverse the least
// count is best and all zero means all 100 (helper.DefaultNormalizeScore).
func normalise(s []int64, reverse bool) {
	var most int64
	for _, v := range s {
		most = max(most, v)
	}
	last, scaled := int64(-1), int64(0)
	for i, v := range s {
		if v != last { // most nodes are like the one before: division is what costs
			last, scaled = v, v
			if most > 0 {
				scaled = maxScore * v / most
			}
			if reverse {
				scaled = maxScore - scaled
			}
		}
		s[i] = scaled
	}
}

// scoreResources reads the scores that depend on a node's own pods only.
func (r *round) scoreResources(feasible []cluster.NodeID, least, balanced []int64) {
	for i, n := range feasible {
		least[i], balanced[i] = int64(r.in.fit.least[n]), int64(r.in.fit.even[n])
	}
}

// leastAllocated is the mean over cpu and memory of the free share in percent,
// each rounded down; a resource that the node does not have is left out.
func leastAllocated(cpu, cpuCap, mem, memCap int64) int64 {
	var sum, count int64
	for _, x := range [...][2]int64{{cpu, cpuCap}, {mem, memCap}} {
		requested, capacity := x[0], x[1]
		if capacity == 0 {
			continue
		}
		count++
		if requested <= capacity {
			sum += (capacity - requested) * maxScore / capacity
		}
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// balance is 100 less the standard deviation, in percent, of the requested
// fractions of cpu and memory, each capped at 1. For two values the standard
// deviation is half their difference; for one it is 0.
func balance(cpu, cpuCap, mem, memCap int64) int64 {
	if cpuCap == 0 || memCap == 0 {
		return maxScore
	}
	c := min(float64(cpu)/float64(cpuCap), 1)
	m := min(float64(mem)/float64(memCap), 1)
	std := math.Abs((c - m) / 2)
	return int64((1 - std) * maxScore)
}

// scoreInterPod sums the weights of matching terms by domain and stretches the
// sums between the least and the most among the feasible nodes to 0..100.
func (r *round) scoreInterPod(feasible []cluster.NodeID, out []int64) {
	if !r.interSums(feasible, out) || len(out) == 0 {
		return
	}
	least, most := out[0], out[0]
	for _, v := range out {
		least, most = min(least, v), max(most, v)
	}
	for i, v := range out {
		out[i] = stretch(v, least, most)
	}
}

// interSums adds the weights of the terms that match, by the nodes' domains. It
// reports whether any term has pods.
func (r *round) interSums(feasible []cluster.NodeID, out []int64) (any bool) {
	for _, t := range r.in.inter.scored {
		if t.pods.total == 0 {
			continue
		}
		any = true
		d := r.w.buf.sumDomains(r.slots, t)
		for i, n := range feasible {
			if x := t.topo.domain[n]; x != noDomain {
				out[i] += t.weight * int64(d[x])
			}
		}
	}
	return any
}

// stretch maps least..most to 0..100, and all to 0 where they are the same.
func stretch(v, least, most int64) int64 {
	if most <= least {
		return 0
	}
	return int64(float64(maxScore) * (float64(v-least) / float64(most-least)))
}
