package config

// What kube-scheduler 1.36 and 1.37 has built in (pkg/scheduler/framework/plugins).

// packingPlugin is trimaran's, the only plugin from elsewhere that is modelled.
const packingPlugin = "TargetLoadPacking"

// inTreePlugins are all plugins, whether on by default or not.
var inTreePlugins = []string{
	"PrioritySort", "DefaultBinder", "DefaultPreemption", "DynamicResources", "GangScheduling", "ImageLocality",
	"InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesBalancedAllocation",
	"NodeResourcesFit", "NodeUnschedulable", "NodeVolumeLimits", "PodTopologySpread", "DeferredPodScheduling",
	"SchedulingGates", "TaintToleration", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
	"TopologyPlacementGenerator", "PodGroupPodsCount",
}

// filterPlugins filter by default.
var filterPlugins = []string{
	"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"NodeDeclaredFeatures",
}

// filtersWithoutPreFilter filter without what their preFilter prepares.
var filtersWithoutPreFilter = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"}

// preFiltersThatReject may refuse nodes in preFilter already.
var preFiltersThatReject = []string{"NodeAffinity", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}

// scorePlugins can score: those on by default, and the one from elsewhere.
var scorePlugins = []string{
	"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesBalancedAllocation", "ImageLocality", "DynamicResources", packingPlugin,
}

// scoresThatNeedPreScore fail to score without what their preScore prepares.
var scoresThatNeedPreScore = []string{"TaintToleration", "PodTopologySpread", "InterPodAffinity", "VolumeBinding"}

// defaultPlugins are on at every point that they know, with these weights where
// they score (apis/config/v1, getDefaultPlugins).
var defaultPlugins = []plugin{
	{"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeName", 0}, {"NodeUnschedulable", 0}, {"TaintToleration", 3},
	{"NodeAffinity", 2}, {"NodePorts", 0}, {"NodeResourcesFit", 1}, {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0},
	{"VolumeBinding", 0}, {"VolumeZone", 0}, {"PodTopologySpread", 2}, {"InterPodAffinity", 2}, {"DynamicResources", 2},
	{"DefaultPreemption", 0}, {"NodeResourcesBalancedAllocation", 1}, {"ImageLocality", 1}, {"DefaultBinder", 0},
	{"NodeDeclaredFeatures", 0},
}

// enabledAt returns which of the plugins that know an extension point are enabled
// there, with their weights, which are at least 1. The point's own lists go
// before multiPoint, and that before the defaults; within a list what is enabled
// wins over what is disabled.
func (p *schedulerPlugins) enabledAt(point *pluginSet, knowing []string) map[string]int {
	known := map[string]bool{}
	for _, name := range knowing {
		known[name] = true
	}
	out := map[string]int{}
	take := func(x plugin) {
		if _, already := out[x.Name]; !already && known[x.Name] {
			out[x.Name] = max(x.Weight, 1)
		}
	}
	for _, x := range point.Enabled {
		take(x)
	}
	off := pluginNames(point.Disabled)
	if off["*"] {
		return out
	}
	everywhere := p.MultiPoint.Enabled
	offEverywhere := pluginNames(p.MultiPoint.Disabled)
	for _, x := range everywhere {
		if !off[x.Name] {
			take(x)
		}
	}
	for _, x := range defaultPlugins {
		if !off[x.Name] && !offEverywhere[x.Name] && !offEverywhere["*"] {
			take(x)
		}
	}
	return out
}

func pluginNames(list []plugin) map[string]bool {
	out := map[string]bool{}
	for _, x := range list {
		out[x.Name] = true
	}
	return out
}
