package score

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Plugin is a score plugin of a profile.
type Plugin struct {
	Name   string
	Weight int64
	// NodeScore returns the score of a node, from 0 to 100. It is nil if the score depends on the other scored nodes.
	NodeScore func(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64
}

// plugins lists the score plugins in the order in which Explain prints them. A new plugin needs a
// field in scheduler.Weights, a line in Weights.ScorePlugins and a line here.
var plugins = []Plugin{
	{Name: string(scheduler.TaintToleration)}, {Name: string(scheduler.NodeAffinity)},
	{Name: string(scheduler.PodTopologySpread)}, {Name: string(scheduler.InterPodAffinity)},
	{Name: "NodeResourcesFit", NodeScore: resourcesFit},
	{Name: "NodeResourcesBalancedAllocation", NodeScore: balancedAllocation},
	{Name: "ImageLocality", NodeScore: func(_ *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
		return scoreOrZero(in.StaticScores.Images, n)
	}},
	{Name: "VolumeBinding", NodeScore: func(_ *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
		return scoreOrZero(in.Volumes.Score, n)
	}},
}

// scoreOrZero returns the score of a node from a list by node; 0 if there is no list.
func scoreOrZero(byNode []int8, n cluster.NodeID) int64 {
	if byNode == nil {
		return 0
	}
	return int64(byNode[n])
}

// Plugins returns the score plugins of a profile.
func Plugins(p *scheduler.Compiled) (list []Plugin) {
	weights := p.Weights.ScorePlugins()
	for _, s := range plugins {
		if s.Weight = *weights[s.Name]; s.Weight > 0 {
			list = append(list, s)
		}
	}
	if p.Packing != nil {
		list = append(list, Plugin{Name: scheduler.PackingName, Weight: p.Packing.Weight, NodeScore: packing})
	}
	if r := p.RiskBalancing; r != nil {
		list = append(list, Plugin{Name: scheduler.RiskBalancingName, Weight: r.Weight, NodeScore: riskBalancing})
	}
	if r := p.LowRisk; r != nil {
		list = append(list, Plugin{Name: scheduler.LowRiskName, Weight: r.Weight, NodeScore: lowRisk})
	}
	return list
}
