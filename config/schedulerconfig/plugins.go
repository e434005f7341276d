package schedulerconfig

// The plugin lists of kube-scheduler 1.36 and 1.37 (pkg/scheduler/framework/plugins).

// PackingPlugin belongs to trimaran. It is the only modelled plugin that kube-scheduler does not have built in.
const PackingPlugin = "TargetLoadPacking"

// inTreePlugins are all built-in plugins, whether they are enabled by default or not.
var inTreePlugins = []string{
	"PrioritySort", "DefaultBinder", "DefaultPreemption", "DynamicResources", "GangScheduling", "ImageLocality",
	"InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesBalancedAllocation",
	"NodeResourcesFit", "NodeUnschedulable", "NodeVolumeLimits", "PodTopologySpread", "DeferredPodScheduling",
	"SchedulingGates", "TaintToleration", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
	"TopologyPlacementGenerator", "PodGroupPodsCount",
}

// FilterPlugins are the filters that are enabled by default.
var FilterPlugins = []string{
	"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"NodeDeclaredFeatures",
}

// filtersWithoutPreFilter are the filters that also work if their preFilter is disabled.
var filtersWithoutPreFilter = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"}

// preFiltersThatReject are the plugins whose preFilter can reject nodes.
var preFiltersThatReject = []string{"NodeAffinity", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}

// ScorePlugins are the scores that are enabled by default, and PackingPlugin.
var ScorePlugins = []string{
	"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
	"NodeResourcesBalancedAllocation", "ImageLocality", "DynamicResources", PackingPlugin,
}

// scoresThatNeedPreScore are the scores that fail if their preScore is disabled.
var scoresThatNeedPreScore = []string{"TaintToleration", "PodTopologySpread", "InterPodAffinity", "VolumeBinding"}

// defaultPlugins are enabled at each extension point that they implement, with these weights as scores
// (apis/config/v1, getDefaultPlugins).
var defaultPlugins = []plugin{
	{"SchedulingGates", 0}, {"PrioritySort", 0}, {"NodeName", 0}, {"NodeUnschedulable", 0}, {"TaintToleration", 3},
	{"NodeAffinity", 2}, {"NodePorts", 0}, {"NodeResourcesFit", 1}, {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0},
	{"VolumeBinding", 0}, {"VolumeZone", 0}, {"PodTopologySpread", 2}, {"InterPodAffinity", 2}, {"DynamicResources", 2},
	{"DefaultPreemption", 0}, {"NodeResourcesBalancedAllocation", 1}, {"ImageLocality", 1}, {"DefaultBinder", 0},
	{"NodeDeclaredFeatures", 0},
}

// enabledAt returns the plugins that are enabled at an extension point, with their weights, which are at least 1. Only
// plugins of the list knowing implement the point. The point's own lists override multiPoint, and multiPoint overrides
// the defaults. A plugin that one list both enables and disables is enabled.
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
