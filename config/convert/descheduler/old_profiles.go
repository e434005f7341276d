package descheduler

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// readOldPolicy converts the format v1alpha1: each enabled strategy becomes a profile with a
// DefaultEvictor of its own.
func (c *conversion) readOldPolicy() {
	o := c.doc.old
	c.doc.policy = &policy{NodeSelector: o.NodeSelector, MaxNoOfPodsToEvictPerNode: o.MaxNoOfPodsToEvictPerNode,
		MaxNoOfPodsToEvictPerNamespace: o.MaxNoOfPodsToEvictPerNamespace, MaxNoOfPodsToEvictTotal: o.MaxNoOfPodsToEvictTotal}
	for _, point := range []extensionPoint{deschedule, balance} {
		for _, name := range slices.Sorted(maps.Keys(o.Strategies)) {
			kind, known := plugins[name]
			if !known && point == balance {
				c.findings.fail("strategies."+name, "unknown strategy%s", suggest.DidYouMean(name, slices.Collect(maps.Keys(plugins))))
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
		c.findings.note("strategies", Note{Plugin: name, Text: "not converted, because it is not enabled"})
		return
	}
	if old.Weight != 0 {
		c.findings.note("strategies", Note{Plugin: name, Field: "weight", Text: "no counterpart; the descheduler does not read it either"})
	}
	params := old.Params
	if params == nil {
		params = &oldParams{}
	}
	p := &profileModel{evictorPath: path + ".params", evictor: c.doc.old.evictor(params)}
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
	args := plugins[name].newArgs()
	switch a := args.(type) {
	case *lowNodeUtilizationArgs:
		a.thresholds, a.EvictableNamespaces = ptr.Deref(p.NodeResourceUtilizationThresholds, thresholds{}), p.Namespaces
	case *highNodeUtilizationArgs:
		t := ptr.Deref(p.NodeResourceUtilizationThresholds, thresholds{})
		a.Thresholds, a.NumberOfNodes, a.EvictableNamespaces = t.Thresholds, t.NumberOfNodes, p.Namespaces
	case *duplicatesArgs:
		a.Namespaces, a.ExcludeOwnerKinds = p.Namespaces, ptr.Deref(p.RemoveDuplicates, oldDuplicates{}).ExcludeOwnerKinds
	case *topologySpreadArgs:
		a.podScope, a.IncludeSoftConstraints = p.podScope, p.IncludeSoftConstraints
	case *antiAffinityArgs:
		a.podScope = p.podScope
	case *nodeAffinityArgs:
		a.podScope, a.NodeAffinityType = p.podScope, p.NodeAffinityType
	case *nodeTaintsArgs:
		a.podScope, a.taints = p.podScope, p.taints
	case *restartsArgs:
		a.podScope, a.restarts = p.podScope, ptr.Deref(p.PodsHavingTooManyRestarts, restarts{})
	case *podLifeTimeArgs:
		l := ptr.Deref(p.PodLifeTime, oldPodLifeTime{})
		a.podScope, a.MaxPodLifeTimeSeconds = p.podScope, l.MaxPodLifeTimeSeconds
		a.States, a.IncludingInitContainers = slices.Concat(l.States, l.PodStatusPhases), l.IncludingInitContainers
	case *failedPodsArgs:
		a.podScope, a.failedPods = p.podScope, ptr.Deref(p.FailedPods, failedPods{})
	}
	return args
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
			c.findings.note("strategies", Note{Plugin: name, Field: "params." + f.key, Text: "not kept, because this strategy does not read it"})
		}
	}
}
