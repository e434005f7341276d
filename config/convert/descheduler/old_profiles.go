package descheduler

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// readOldPolicy converts the format v1alpha1: each enabled strategy becomes a profile with a
// DefaultEvictor of its own.
func (c *conversion) readOldPolicy() {
	o := c.old
	c.policy = &policy{NodeSelector: o.NodeSelector, MaxNoOfPodsToEvictPerNode: o.MaxNoOfPodsToEvictPerNode,
		MaxNoOfPodsToEvictPerNamespace: o.MaxNoOfPodsToEvictPerNamespace, MaxNoOfPodsToEvictTotal: o.MaxNoOfPodsToEvictTotal}
	for _, point := range []extensionPoint{deschedule, balance} {
		for _, name := range slices.Sorted(maps.Keys(o.Strategies)) {
			kind, known := plugins[name]
			if !known && point == balance {
				c.fail("strategies."+name, "unknown strategy%s", suggest.DidYouMean(name, slices.Collect(maps.Keys(plugins))))
			}
			if known && kind.point == point {
				c.readOldStrategy(name, o.Strategies[name])
			}
		}
	}
}

func (c *conversion) readOldStrategy(name string, old oldStrategy) {
	path := "strategies." + name
	if !old.Enabled {
		c.note("strategies", Note{Plugin: name, Text: "not converted, because it is not enabled"})
		return
	}
	if old.Weight != 0 {
		c.note("strategies", Note{Plugin: name, Field: "weight", Text: "no counterpart; the descheduler does not read it either"})
	}
	params := old.Params
	if params == nil {
		params = &oldParams{}
	}
	p := &profileModel{evictorPath: path + ".params", evictor: c.old.evictor(params)}
	p.uses = []pluginUse{{name: name, path: path + ".params" + argsKey[name], args: params.pluginArgs(name)}}
	c.noteOldParams(name, params)
	c.profiles = append(c.profiles, p)
}

// evictor returns the arguments of DefaultEvictor for a strategy.
func (o *oldPolicy) evictor(p *oldParams) evictorArgs {
	e := evictorArgs{
		NodeFit: p.NodeFit, EvictLocalStoragePods: ptr.Deref(o.EvictLocalStoragePods, false), EvictDaemonSetPods: ptr.Deref(o.EvictDaemonSetPods, false),
		EvictSystemCriticalPods: ptr.Deref(o.EvictSystemCriticalPods, false), EvictFailedBarePods: ptr.Deref(o.EvictFailedBarePods, false),
		IgnorePvcPods: ptr.Deref(o.IgnorePVCPods, false),
	}
	if p.ThresholdPriority != nil || p.ThresholdPriorityClassName != "" {
		e.PriorityThreshold = &priorityThreshold{Value: p.ThresholdPriority, Name: p.ThresholdPriorityClassName}
	}
	return e
}

// argsKey is the key below params with the arguments of a strategy that has its own.
var argsKey = map[string]string{
	"LowNodeUtilization": ".nodeResourceUtilizationThresholds", "HighNodeUtilization": ".nodeResourceUtilizationThresholds",
	"RemovePodsHavingTooManyRestarts": ".podsHavingTooManyRestarts", "PodLifeTime": ".podLifeTime", "RemoveFailedPods": ".failedPods",
	"RemoveDuplicates": ".removeDuplicates",
}

// pluginArgs returns the arguments of the plugin that replaced the strategy.
func (p *oldParams) pluginArgs(name string) pluginArgs {
	switch a := plugins[name].newArgs().(type) {
	case *lowNodeUtilizationArgs:
		t := cmp.Or(p.NodeResourceUtilizationThresholds, &oldThresholds{})
		a.UseDeviationThresholds, a.Thresholds, a.TargetThresholds, a.NumberOfNodes = t.UseDeviationThresholds, t.Thresholds, t.TargetThresholds, t.NumberOfNodes
		a.EvictableNamespaces = p.Namespaces
		return a
	case *highNodeUtilizationArgs:
		t := cmp.Or(p.NodeResourceUtilizationThresholds, &oldThresholds{})
		a.Thresholds, a.NumberOfNodes, a.EvictableNamespaces = t.Thresholds, t.NumberOfNodes, p.Namespaces
		return a
	case *duplicatesArgs:
		a.Namespaces, a.ExcludeOwnerKinds = p.Namespaces, cmp.Or(p.RemoveDuplicates, &oldDuplicates{}).ExcludeOwnerKinds
		return a
	case *topologySpreadArgs:
		a.Namespaces, a.LabelSelector, a.IncludeSoftConstraints = p.Namespaces, p.LabelSelector, p.IncludeSoftConstraints
		return a
	case *antiAffinityArgs:
		a.Namespaces, a.LabelSelector = p.Namespaces, p.LabelSelector
		return a
	case *nodeAffinityArgs:
		a.Namespaces, a.LabelSelector, a.NodeAffinityType = p.Namespaces, p.LabelSelector, p.NodeAffinityType
		return a
	case *nodeTaintsArgs:
		a.Namespaces, a.LabelSelector = p.Namespaces, p.LabelSelector
		a.IncludePreferNoSchedule, a.ExcludedTaints, a.IncludedTaints = p.IncludePreferNoSchedule, p.ExcludedTaints, p.IncludedTaints
		return a
	}
	return p.lifecycleArgs(name)
}

func (p *oldParams) lifecycleArgs(name string) pluginArgs {
	switch a := plugins[name].newArgs().(type) {
	case *restartsArgs:
		r := cmp.Or(p.PodsHavingTooManyRestarts, &oldRestarts{})
		a.Namespaces, a.LabelSelector = p.Namespaces, p.LabelSelector
		a.PodRestartThreshold, a.IncludingInitContainers, a.States = r.PodRestartThreshold, r.IncludingInitContainers, r.States
		return a
	case *podLifeTimeArgs:
		l := cmp.Or(p.PodLifeTime, &oldPodLifeTime{})
		a.Namespaces, a.LabelSelector = p.Namespaces, p.LabelSelector
		a.MaxPodLifeTimeSeconds, a.States, a.IncludingInitContainers = l.MaxPodLifeTimeSeconds, slices.Concat(l.States, l.PodStatusPhases), l.IncludingInitContainers
		return a
	case *failedPodsArgs:
		f := cmp.Or(p.FailedPods, &oldFailedPods{})
		a.Namespaces, a.LabelSelector = p.Namespaces, p.LabelSelector
		a.ExcludeOwnerKinds, a.MinPodLifetimeSeconds, a.Reasons = f.ExcludeOwnerKinds, f.MinPodLifetimeSeconds, f.Reasons
		a.ExitCodes, a.IncludingInitContainers = f.ExitCodes, f.IncludingInitContainers
		return a
	}
	panic("descheduler: no arguments for " + name)
}

// noteOldParams names the parameters that the strategy does not read.
func (c *conversion) noteOldParams(name string, p *oldParams) {
	reads := append(map[string][]string{
		"RemovePodsViolatingTopologySpreadConstraint": {"includeSoftConstraints"},
		"RemovePodsViolatingNodeAffinity":             {"nodeAffinityType"},
		"RemovePodsViolatingNodeTaints":               {"includePreferNoSchedule", "excludedTaints", "includedTaints"},
	}[name], strings.TrimPrefix(argsKey[name], "."))
	for _, f := range []struct {
		key string
		set bool
	}{
		{"nodeResourceUtilizationThresholds", p.NodeResourceUtilizationThresholds != nil}, {"nodeAffinityType", p.NodeAffinityType != nil},
		{"podsHavingTooManyRestarts", p.PodsHavingTooManyRestarts != nil}, {"podLifeTime", p.PodLifeTime != nil},
		{"removeDuplicates", p.RemoveDuplicates != nil}, {"failedPods", p.FailedPods != nil},
		{"includeSoftConstraints", p.IncludeSoftConstraints != nil}, {"includePreferNoSchedule", p.IncludePreferNoSchedule},
		{"excludedTaints", p.ExcludedTaints != nil}, {"includedTaints", p.IncludedTaints != nil},
	} {
		if f.set && !slices.Contains(reads, f.key) {
			c.note("strategies", Note{Plugin: name, Field: "params." + f.key, Text: "not kept, because this strategy does not read it"})
		}
	}
}
