package score

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// plugins lists the score plugins in the order in which Explain prints them. A new plugin needs a
// field in scheduler.Weights, a line in Weights.ScorePlugins and a line here. Package sampling must
// know each relative plugin.
var plugins = []cycle.Scorer{
	{Name: "TaintToleration", Score: scoreTaints, Relative: true},
	{Name: "NodeAffinity", Score: scoreNodeAffinity, Relative: true,
		IsIdle: func(in *cycle.Replacement) bool { return in.StaticScores.Preferred == nil }},
	{Name: "PodTopologySpread", Score: scoreSpread, Relative: true,
		IsIdle: func(in *cycle.Replacement) bool { return len(in.Spread.Soft) == 0 }},
	{Name: "InterPodAffinity", Relative: true,
		Score:  scoreInterPod,
		IsIdle: func(in *cycle.Replacement) bool { return len(in.InterPod.Scored) == 0 }},
	{Name: "NodeResourcesFit", NodeScores: func(in *cycle.Replacement) []int8 { return in.Local.ResourcesFit }},
	{Name: "NodeResourcesBalancedAllocation", NodeScores: func(in *cycle.Replacement) []int8 { return in.Local.Balanced }},
	{Name: "ImageLocality", NodeScores: func(in *cycle.Replacement) []int8 { return in.StaticScores.Images }},
	{Name: "VolumeBinding", NodeScores: func(in *cycle.Replacement) []int8 { return in.Volumes.Score }},
}

// Plugins returns the score plugins of a profile.
func Plugins(p *scheduler.Compiled) (list []cycle.Scorer) {
	weights := p.Weights.ScorePlugins()
	for _, s := range plugins {
		if s.Weight = *weights[s.Name]; s.Weight > 0 {
			list = append(list, s)
		}
	}
	if p.Packing != nil {
		list = append(list, cycle.Scorer{Name: scheduler.PackingName, Weight: p.Packing.Weight, Score: scorePacking})
	}
	if r := p.RiskBalancing; r != nil {
		list = append(list, cycle.Scorer{Name: scheduler.RiskBalancingName, Weight: r.Weight, Score: scoreRiskBalancing})
	}
	if r := p.LowRisk; r != nil {
		list = append(list, cycle.Scorer{Name: scheduler.LowRiskName, Weight: r.Weight, Score: scoreLowRisk})
	}
	return list
}
