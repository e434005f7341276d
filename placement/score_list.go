package placement

import "github.com/evenkeel-project/evenkeel/cluster"

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
	{"TaintToleration", func(w *Weights) int64 { return w.TaintToleration }, scoreTaints, nil, true, nil},
	{"NodeAffinity", func(w *Weights) int64 { return w.NodeAffinity }, scoreNodeAffinity, func(in *incoming) bool { return in.fixed.preferred == nil }, true, nil},
	{"PodTopologySpread", func(w *Weights) int64 { return w.PodTopologySpread }, scoreSpread, func(in *incoming) bool { return len(in.spread.soft) == 0 }, true, nil},
	{"InterPodAffinity", func(w *Weights) int64 { return w.InterPodAffinity }, scoreInterPod, func(in *incoming) bool { return len(in.inter.scored) == 0 }, true, nil},
	{"NodeResourcesFit", func(w *Weights) int64 { return w.ResourcesFit }, scoreResourcesFit, nil, false, func(in *incoming) []int8 { return in.fit.amount }},
	{"NodeResourcesBalancedAllocation", func(w *Weights) int64 { return w.BalancedAllocation }, scoreBalanced, nil, false, func(in *incoming) []int8 { return in.fit.even }},
	{"ImageLocality", func(w *Weights) int64 { return w.ImageLocality }, scoreImages, func(in *incoming) bool { return in.fixed.images == nil }, false, func(in *incoming) []int8 { return in.fixed.images }},
	{"VolumeBinding", func(w *Weights) int64 { return w.VolumeBinding }, scoreVolumes, func(in *incoming) bool { return in.vol.score == nil }, false, func(in *incoming) []int8 { return in.vol.score }},
}

// scorersOf lists the score plugins of a profile without a legacy Policy.
func scorersOf(p *profile) (list []scorer) {
	for _, s := range scores {
		if weight := s.weight(&p.Weights); weight > 0 {
			list = append(list, scorer{s.name, weight, s.score, s.idle, s.relative, s.byNode})
		}
	}
	if p.Packing != nil {
		list = append(list, scorer{packingName, p.Packing.Weight, scorePacking, nil, false, nil})
	}
	return list
}
