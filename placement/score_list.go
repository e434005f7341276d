package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// pluginTable are the plugins in the order in which they are explained. One more is a
// field of Weights, a line in ScorePlugins, and a line here. One that is relative
// gives a node another score beside other nodes; sampler knows each of those. byNode
// is where one stands that is only looked up; nil for the others.
var pluginTable = []struct {
	name     string
	weight   func(*Weights) int64
	score    func(r *Attempt, feasible []cluster.NodeID, out []int64)
	idle     func(in *Replacement) bool
	relative bool
	byNode   func(in *Replacement) []int8
}{
	{"TaintToleration", func(w *Weights) int64 { return w.TaintToleration }, scoreTaints, nil, true, nil},
	{"NodeAffinity", func(w *Weights) int64 { return w.NodeAffinity }, scoreNodeAffinity, func(in *Replacement) bool { return in.Static.preferred == nil }, true, nil},
	{"PodTopologySpread", func(w *Weights) int64 { return w.PodTopologySpread }, scoreSpread, func(in *Replacement) bool { return len(in.spread.soft) == 0 }, true, nil},
	{"InterPodAffinity", func(w *Weights) int64 { return w.InterPodAffinity }, scoreInterPod, func(in *Replacement) bool { return len(in.InterPod.scored) == 0 }, true, nil},
	{"NodeResourcesFit", func(w *Weights) int64 { return w.ResourcesFit }, scoreResourcesFit, nil, false, func(in *Replacement) []int8 { return in.Local.ResourcesFit }},
	{"NodeResourcesBalancedAllocation", func(w *Weights) int64 { return w.BalancedAllocation }, scoreBalanced, nil, false, func(in *Replacement) []int8 { return in.Local.Balanced }},
	{"ImageLocality", func(w *Weights) int64 { return w.ImageLocality }, scoreImages, func(in *Replacement) bool { return in.Static.images == nil }, false, func(in *Replacement) []int8 { return in.Static.images }},
	{"VolumeBinding", func(w *Weights) int64 { return w.VolumeBinding }, scoreVolumes, func(in *Replacement) bool { return in.Volumes.score == nil }, false, func(in *Replacement) []int8 { return in.Volumes.score }},
}

// Plugins lists the score plugins of a profile without a legacy Policy.
func Plugins(p *Compiled) (list []Scorer) {
	for _, s := range pluginTable {
		if weight := s.weight(&p.Weights); weight > 0 {
			list = append(list, Scorer{s.name, weight, s.score, s.idle, s.relative, s.byNode})
		}
	}
	if p.Packing != nil {
		list = append(list, Scorer{PackingName, p.Packing.Weight, scorePacking, nil, false, nil})
	}
	return list
}
