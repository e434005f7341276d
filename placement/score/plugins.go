package score

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// pluginTable lists the score plugins in the order in which Explain prints them. A new
// plugin needs a field in Weights, a line in scheduler.ScorePlugins and a line here.
// relative: the score of a node depends on the other nodes. Package sampling knows each
// such plugin. byNode returns stored scores by node; nil if the plugin has none.
var pluginTable = []struct {
	name     string
	weight   func(*scheduler.Weights) int64
	score    func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64)
	idle     func(in *cycle.Replacement) bool
	relative bool
	byNode   func(in *cycle.Replacement) []int8
}{
	{"TaintToleration", func(w *scheduler.Weights) int64 { return w.TaintToleration }, scoreTaints, nil, true, nil},
	{"NodeAffinity", func(w *scheduler.Weights) int64 { return w.NodeAffinity }, scoreNodeAffinity, func(in *cycle.Replacement) bool { return in.StaticScores.Preferred == nil }, true, nil},
	{"PodTopologySpread", func(w *scheduler.Weights) int64 { return w.PodTopologySpread }, scoreSpread, func(in *cycle.Replacement) bool { return len(in.Spread.Soft) == 0 }, true, nil},
	{"InterPodAffinity", func(w *scheduler.Weights) int64 { return w.InterPodAffinity }, scoreInterPod, func(in *cycle.Replacement) bool { return len(in.InterPod.Scored) == 0 }, true, nil},
	{"NodeResourcesFit", func(w *scheduler.Weights) int64 { return w.ResourcesFit }, scoreResourcesFit, nil, false, func(in *cycle.Replacement) []int8 { return in.Local.ResourcesFit }},
	{"NodeResourcesBalancedAllocation", func(w *scheduler.Weights) int64 { return w.BalancedAllocation }, scoreBalanced, nil, false, func(in *cycle.Replacement) []int8 { return in.Local.Balanced }},
	{"ImageLocality", func(w *scheduler.Weights) int64 { return w.ImageLocality }, scoreImages, func(in *cycle.Replacement) bool { return in.StaticScores.Images == nil }, false, func(in *cycle.Replacement) []int8 { return in.StaticScores.Images }},
	{"VolumeBinding", func(w *scheduler.Weights) int64 { return w.VolumeBinding }, scoreVolumes, func(in *cycle.Replacement) bool { return in.Volumes.Score == nil }, false, func(in *cycle.Replacement) []int8 { return in.Volumes.Score }},
}

// Plugins returns the score plugins of a profile without a legacy Policy.
func Plugins(p *scheduler.Compiled) (list []cycle.Scorer) {
	for _, s := range pluginTable {
		if weight := s.weight(&p.Weights); weight > 0 {
			list = append(list, cycle.Scorer{Name: s.name, Weight: weight, Score: s.score, AlwaysZero: s.idle, Relative: s.relative, NodeScores: s.byNode})
		}
	}
	if p.Packing != nil {
		list = append(list, cycle.Scorer{Name: scheduler.PackingName, Weight: p.Packing.Weight, Score: scorePacking, AlwaysZero: nil, Relative: false, NodeScores: nil})
	}
	return list
}
