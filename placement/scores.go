package placement

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// maxScore is what the best node of a plugin gets before the weight.
const maxScore = 100

// Weights multiply the plugins' scores of 0..100; a plugin with weight 0 does
// not score.
type Weights struct {
	TaintToleration    int64
	NodeAffinity       int64
	PodTopologySpread  int64
	InterPodAffinity   int64
	ResourcesFit       int64
	BalancedAllocation int64
	ImageLocality      int64
	VolumeBinding      int64
}

// DefaultWeights are those of the default profile (kube-scheduler
// apis/config/v1, getDefaultPlugins).
var DefaultWeights = Weights{
	TaintToleration: 3, NodeAffinity: 2, PodTopologySpread: 2, InterPodAffinity: 2,
	ResourcesFit: 1, BalancedAllocation: 1, ImageLocality: 1, VolumeBinding: 1,
}

// ScorePlugins are the plugins that Weights are about, by the scheduler's names,
// each with its place in Weights.
func (w *Weights) ScorePlugins() map[string]*int64 {
	return map[string]*int64{
		"TaintToleration": &w.TaintToleration, "NodeAffinity": &w.NodeAffinity,
		"PodTopologySpread": &w.PodTopologySpread, "InterPodAffinity": &w.InterPodAffinity,
		"NodeResourcesFit": &w.ResourcesFit, "NodeResourcesBalancedAllocation": &w.BalancedAllocation,
		"ImageLocality": &w.ImageLocality, "VolumeBinding": &w.VolumeBinding,
	}
}

// scores are the plugins in the order in which they are explained. One more is a
// field of Weights, a line in ScorePlugins, and a line here. One that is relative
// gives a node another score beside other nodes; sampler knows each of those. byNode
// is where one stands that is only looked up; nil for the others.
var scores = []struct {
	name     string
	weight   func(*Weights) int64
	score    func(r *round, feasible []cluster.NodeID, out []int64)
	idle     func(in *incoming) bool
	relative bool
	byNode   func(in *incoming) []int8
}{
	{"TaintToleration", func(w *Weights) int64 { return w.TaintToleration }, (*round).scoreTaints, nil, true, nil},
	{"NodeAffinity", func(w *Weights) int64 { return w.NodeAffinity }, (*round).scoreNodeAffinity, func(in *incoming) bool { return in.fixed.preferred == nil }, true, nil},
	{"PodTopologySpread", func(w *Weights) int64 { return w.PodTopologySpread }, (*round).scoreSpread, func(in *incoming) bool { return len(in.spread.soft) == 0 }, true, nil},
	{"InterPodAffinity", func(w *Weights) int64 { return w.InterPodAffinity }, (*round).scoreInterPod, func(in *incoming) bool { return len(in.inter.scored) == 0 }, true, nil},
	{"NodeResourcesFit", func(w *Weights) int64 { return w.ResourcesFit }, (*round).scoreAmount, nil, false, func(in *incoming) []int8 { return in.fit.amount }},
	{"NodeResourcesBalancedAllocation", func(w *Weights) int64 { return w.BalancedAllocation }, (*round).scoreEven, nil, false, func(in *incoming) []int8 { return in.fit.even }},
	{"ImageLocality", func(w *Weights) int64 { return w.ImageLocality }, (*round).scoreImages, func(in *incoming) bool { return in.fixed.images == nil }, false, func(in *incoming) []int8 { return in.fixed.images }},
	{"VolumeBinding", func(w *Weights) int64 { return w.VolumeBinding }, (*round).scoreVolumes, func(in *incoming) bool { return in.vol.score == nil }, false, func(in *incoming) []int8 { return in.vol.score }},
}

// scorer is one score plugin of a profile. score sets every value of out, which
// may hold anything, for the feasible nodes: 0..100, or 0..10 in a legacy Policy.
// idle reports that it would give every node 0; nil: never.
type scorer struct {
	name   string
	weight int64
	score  func(r *round, feasible []cluster.NodeID, out []int64)
	idle   func(in *incoming) bool
	// relative scores depend on the other nodes that are scored.
	relative bool
	byNode   func(in *incoming) []int8 // the scores, where each node has one of its own; nil: score finds them
}

// scorersOf lists the score plugins of a profile.
func scorersOf(p *profile) (list []scorer) {
	if p.Policy != nil {
		return p.Policy.scorers()
	}
	for _, s := range scores {
		if weight := s.weight(&p.Weights); weight > 0 {
			list = append(list, scorer{s.name, weight, s.score, s.idle, s.relative, s.byNode})
		}
	}
	if p.Packing != nil {
		list = append(list, scorer{packingName, p.Packing.Weight, (*round).scorePacking, nil, false, nil})
	}
	return list
}

// scorersFor returns the score plugins of a profile.
func (w *World) scorersFor(p *profile) []scorer {
	list, known := w.scorers[p]
	if !known {
		list = scorersOf(p)
		w.scorers[p] = list
	}
	return list
}

// fixedScores are the parts of the scores that no other pod changes, by node.
// All but those of volumes are shared, and read-only.
type fixedScores struct {
	taints    []int64 // untolerated PreferNoSchedule taints
	preferred []int64 // sum of matching preferred node affinity weights; nil: none
	images    []int8  // nil: no image of the pod is on any node
	hint      int64   // what the steering taint adds to taints: 0 where it is tolerated
}

// fixedScores adds the profile's preferred node affinity to the pod's own.
func (w *clusterState) fixedScores(pod *corev1.Pod, added *nodeaffinity.PreferredSchedulingTerms) (fixedScores, error) {
	f := fixedScores{taints: make([]int64, len(w.snap.Nodes)), hint: disliked(steering, pod.Spec.Tolerations)}
	for i := range w.snap.Nodes {
		f.taints[i] = disliked(w.snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	prefer := func(terms *nodeaffinity.PreferredSchedulingTerms) {
		if f.preferred == nil {
			f.preferred = make([]int64, len(w.snap.Nodes))
		}
		for i := range w.snap.Nodes {
			f.preferred[i] += terms.Score(w.object(i))
		}
	}
	if added != nil {
		prefer(added)
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return f, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return f, fmt.Errorf("reading the preferred node affinity: %w", err)
	}
	prefer(terms)
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
	b, scorers := r.buf, r.in.scorers
	for len(b.scores) < len(scorers) {
		b.scores = append(b.scores, nil)
	}
	b.total = resized(b.total, len(feasible))
	clear(b.total)
	for k := range scorers {
		out := resized(b.scores[k], len(feasible))
		b.scores[k] = out
		if idle := scorers[k].idle; idle != nil && idle(r.in) {
			clear(out)
			continue
		}
		scorers[k].score(r, feasible, out)
		weight, total := scorers[k].weight, b.total[:len(out)]
		for i, s := range out {
			total[i] += weight * s
		}
	}
}

func (r *round) scoreTaints(feasible []cluster.NodeID, out []int64) {
	r.countTaints(feasible, out)
	normalise(out, maxScore, true)
}

// countTaints counts untolerated PreferNoSchedule taints, hints among them.
func (r *round) countTaints(feasible []cluster.NodeID, out []int64) {
	f := &r.in.fixed
	if f.hint == 0 || r.m.hinted.taints == nil {
		pick(out, feasible, f.taints)
		return
	}
	for i, n := range feasible {
		out[i] = f.taints[n] + f.hint*r.m.hinted.taint(n)
	}
}

func (r *round) scoreNodeAffinity(feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fixed.preferred)
	normalise(out, maxScore, false)
}

func (r *round) scoreImages(feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fixed.images)
}

func (r *round) scoreVolumes(feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.vol.score)
}

// scoreAmount reads the score of NodeResourcesFit.
func (r *round) scoreAmount(feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fit.amount)
}

// scoreEven reads the score of NodeResourcesBalancedAllocation.
func (r *round) scoreEven(feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fit.even)
}

// pick takes the feasible nodes' values.
func pick[T int8 | int64](out []int64, feasible []cluster.NodeID, byNode []T) {
	for i, n := range feasible {
		out[i] = int64(byNode[n])
	}
}

func resized(s []int64, n int) []int64 {
	if cap(s) < n {
		return make([]int64, n)
	}
	return s[:n]
}

// normalise stretches counts to 0..top of the largest; with reverse the least
// count is best and all zero means all top (helper.DefaultNormalizeScore).
func normalise(s []int64, top int64, reverse bool) {
	var most int64
	for _, v := range s {
		most = max(most, v)
	}
	last, scaled := int64(-1), int64(0)
	for i, v := range s {
		if v != last { // most nodes are like the one before: division is what costs
			last, scaled = v, v
			if most > 0 {
				scaled = top * v / most
			}
			if reverse {
				scaled = top - scaled
			}
		}
		s[i] = scaled
	}
}

// scoreInterPod stretches the sums of the weights of matching terms, between the
// least and the most among the feasible nodes, to 0..100.
func (r *round) scoreInterPod(feasible []cluster.NodeID, out []int64) {
	r.interPodSums(feasible, out, maxScore)
}

func (r *round) interPodSums(feasible []cluster.NodeID, out []int64, top int64) {
	clear(out)
	if !r.interSums(feasible, out) || len(out) == 0 {
		return
	}
	least, most := out[0], out[0]
	for _, v := range out {
		least, most = min(least, v), max(most, v)
	}
	for i, v := range out {
		out[i] = stretch(v, least, most, top)
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
		d := r.buf.sumDomains(r.slots, t)
		for i, n := range feasible {
			if x := t.topo.domain[n]; x != noDomain {
				out[i] += t.weight * int64(d[x])
			}
		}
	}
	return any
}

// stretch maps least..most to 0..top, and all to 0 where they are the same.
func stretch(v, least, most, top int64) int64 {
	if most <= least {
		return 0
	}
	return int64(float64(top) * (float64(v-least) / float64(most-least)))
}
