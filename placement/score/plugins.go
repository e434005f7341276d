package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Names of the score plugins whose scores depend on the other scored nodes. Package fast computes these scores.
const (
	TaintToleration   = "TaintToleration"
	NodeAffinity      = "NodeAffinity"
	PodTopologySpread = "PodTopologySpread"
	InterPodAffinity  = "InterPodAffinity"
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
	{Name: TaintToleration}, {Name: NodeAffinity}, {Name: PodTopologySpread}, {Name: InterPodAffinity},
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

// packing scores a node by its expected cpu utilization. As in the plugin, a node without a
// measurement gets 0.
func packing(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	x := &w.Packing.Nodes[n]
	if !x.Measured {
		return 0
	}
	milliCPU := x.UsedMilliCPU + x.UnmeasuredMilliCPU + in.Class.ExpectedMilliCPU
	return packingScore(100*float64(milliCPU)/float64(x.CapacityMilliCPU), float64(in.Profile.Packing.Target))
}

// packingScore returns the score at p percent utilization with a target of t. The score rises from
// t at 0 % to 100 at t %, then falls from t to 0 at 100 %. Above 100 %, the score is 0.
func packingScore(p, t float64) int64 {
	switch {
	case p > 100:
		return 0
	case p > t:
		return int64(math.Round(t * (100 - p) / (100 - t)))
	}
	return int64(math.Round((100-t)*p/t + t))
}
