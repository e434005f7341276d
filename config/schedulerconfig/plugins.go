package schedulerconfig

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// These lists match kube-scheduler 1.37 (pkg/scheduler/framework/plugins). Earlier versions lack some of the plugins.

// trimaranPlugins are the supported plugins that are not built into kube-scheduler.
var trimaranPlugins = []string{scheduler.PackingName, scheduler.RiskBalancingName, scheduler.LowRiskName}

// inTreePlugins are all plugins that are built into kube-scheduler, enabled by default or not.
var inTreePlugins = []string{
	"PrioritySort", "DefaultBinder", "DefaultPreemption", "DynamicResources", "GangScheduling", "ImageLocality",
	"InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesBalancedAllocation",
	"NodeResourcesFit", "NodeUnschedulable", "NodeVolumeLimits", "PodTopologySpread", "DeferredPodScheduling",
	"SchedulingGates", "TaintToleration", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
	"TopologyPlacementGenerator", "PodGroupPodsCount",
}

// FilterPlugins are the filter plugins that kube-scheduler enables by default.
var FilterPlugins = []string{
	"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"NodeDeclaredFeatures",
}

// filtersWithoutPreFilter are the filter plugins that work without their preFilter.
var filtersWithoutPreFilter = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"}

// preFiltersThatReject are the plugins whose preFilter can reject nodes.
var preFiltersThatReject = []string{"NodeAffinity", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}

// ScorePlugins are those of trimaran and the score plugins that kube-scheduler enables by default.
var ScorePlugins = append([]string{
	"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesBalancedAllocation", "ImageLocality", "DynamicResources",
}, trimaranPlugins...)

// scoresThatNeedPreScore are the score plugins that fail without their preScore.
var scoresThatNeedPreScore = []string{"TaintToleration", "PodTopologySpread", "InterPodAffinity", "VolumeBinding"}

// defaultPlugins lists the plugins that kube-scheduler enables at all their extension points, with their score
// weights (getDefaultPlugins in apis/config/v1).
var defaultPlugins = []plugin{
	{"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeName", 0}, {"NodeUnschedulable", 0}, {"TaintToleration", 3},
	{"NodeAffinity", 2}, {"NodePorts", 0}, {"NodeResourcesFit", 1}, {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0},
	{"VolumeBinding", 0}, {"VolumeZone", 0}, {"PodTopologySpread", 2}, {"InterPodAffinity", 2}, {"DynamicResources", 2},
	{"DefaultPreemption", 0}, {"NodeResourcesBalancedAllocation", 1}, {"ImageLocality", 1}, {"DefaultBinder", 0},
	{"NodeDeclaredFeatures", 0},
}

// enabledAt returns the plugins that are enabled at an extension point, with weights of at least 1. Only plugins in
// implementing support the point. The lists of the point override multiPoint, and multiPoint overrides the defaults.
// If one list both enables and disables a plugin, the plugin is enabled.
func (p *schedulerPlugins) enabledAt(point *pluginSet, implementing []string) map[string]int {
	out := map[string]int{}
	add := func(enabled, disabled []plugin) {
		for _, x := range enabled {
			off := slices.ContainsFunc(disabled, func(y plugin) bool { return y.Name == x.Name || y.Name == "*" })
			if _, added := out[x.Name]; !added && !off && slices.Contains(implementing, x.Name) {
				out[x.Name] = max(x.Weight, 1)
			}
		}
	}
	add(point.Enabled, nil)
	add(p.MultiPoint.Enabled, point.Disabled)
	add(defaultPlugins, slices.Concat(point.Disabled, p.MultiPoint.Disabled))
	return out
}
