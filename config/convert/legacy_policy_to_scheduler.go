package convert

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// pluginOfPriority maps priority functions to the score plugins that replaced them. Weights stay the same, because
// all scores changed alike from 0..10 to 0..100.
var pluginOfPriority = map[string]string{
	"InterPodAffinityPriority": "InterPodAffinity", "NodeAffinityPriority": "NodeAffinity", "TaintTolerationPriority": "TaintToleration",
	"ImageLocalityPriority": "ImageLocality", "BalancedResourceAllocation": "NodeResourcesBalancedAllocation", "EvenPodsSpreadPriority": "PodTopologySpread",
}

// policyConversion builds a scheduler profile from a Policy.
type policyConversion struct{ *schedulerconfig.Profile }

// SchedulerProfile converts a Policy to a scheduler profile, with notes about settings without an equivalent.
func SchedulerProfile(policy *LegacyPolicy) *schedulerconfig.Profile {
	p := policyConversion{&schedulerconfig.Profile{Weights: map[string]int{}}}
	for _, x := range policy.priorities() {
		p.convertPriority(x)
	}
	for _, name := range schedulerconfig.ScorePlugins {
		var w scheduler.Weights
		if _, scores := w.ScorePlugins()[name]; scores && p.Weights[name] == 0 {
			p.DisabledScores = append(p.DisabledScores, name)
		}
	}
	if n := len(p.SpreadKeys); n > 2 {
		p.AddNote("PodTopologySpread has one weight (%d) for its %d default constraints together", p.Weights["PodTopologySpread"], n)
	}
	p.convertPredicates(policy)
	p.HardPodAffinityWeight = policy.HardPodAffinitySymmetricWeight
	if policy.AlwaysCheckAllPredicates {
		p.AddNote("alwaysCheckAllPredicates: removed from kube-scheduler; it changed only the events")
	}
	for _, x := range policy.Extenders {
		p.AddNote("extender %s: not converted; copy it to extenders: of this file; Evenkeel then makes no predictions for this scheduler", schedulerconfig.ExtenderName(x))
	}
	return p.Profile
}

func (p policyConversion) convertPriority(x policyPriority) {
	if a := x.Argument; a != nil {
		switch {
		case a.ServiceAntiAffinity != nil:
			p.addAntiAffinity(x, a.ServiceAntiAffinity.Label)
		case a.LabelPreference != nil:
			p.addLabelPreference(x, a.LabelPreference.Label, a.LabelPreference.Presence)
		case a.RequestedToCapacityRatio != nil:
			if p.setResourceStrategy(x, string(scheduler.RequestedToCapacityRatio)) {
				p.Shape, p.Resources = a.RequestedToCapacityRatio.Shape, a.RequestedToCapacityRatio.Resources
			}
		}
		return
	}
	switch x.Name {
	case "SelectorSpreadPriority", "ServiceSpreadingPriority":
		p.Weights["PodTopologySpread"] += x.Weight
		p.AddSpreadKey(corev1.LabelTopologyZone)
		p.AddSpreadKey(corev1.LabelHostname)
	case "LeastRequestedPriority":
		p.setResourceStrategy(x, string(scheduler.LeastAllocated))
	case "MostRequestedPriority":
		p.setResourceStrategy(x, string(scheduler.MostAllocated))
	case "EqualPriority": // adds the same score to every node
	case "NodePreferAvoidPodsPriority":
		p.AddNote("priority %s (weight %d): no equivalent; kube-scheduler no longer reads the annotation preferAvoidPods; taint such nodes PreferNoSchedule", x.Name, x.Weight)
	default:
		if name := pluginOfPriority[x.Name]; name != "" {
			p.Weights[name] += x.Weight
			return
		}
		p.AddNote("priority %s (weight %d): no equivalent", x.Name, x.Weight)
	}
}

func (p policyConversion) addAntiAffinity(x policyPriority, label string) {
	p.Weights["PodTopologySpread"] += x.Weight
	p.AddSpreadKey(label)
	p.AddNote("priority %s (serviceAntiAffinity on %s, weight %d): now a default constraint of PodTopologySpread, which counts the pods of the owner instead of the first Service", x.Name, label, x.Weight)
}

func (p policyConversion) addLabelPreference(x policyPriority, label string, presence bool) {
	op := corev1.NodeSelectorOpDoesNotExist
	if presence {
		op = corev1.NodeSelectorOpExists
	}
	p.Weights["NodeAffinity"] += x.Weight
	p.AddPreferredTerm(int32(min(x.Weight, 100)), corev1.NodeSelectorRequirement{Key: label, Operator: op})
	p.AddNote("priority %s (labelPreference on %s, weight %d): now a preferred term of addedAffinity; it shares its points with each pod's own preferred node affinity", x.Name, label, x.Weight)
}

// setResourceStrategy sets the scoring strategy of NodeResourcesFit. The plugin has only one strategy, so the first
// priority function about requests wins. setResourceStrategy returns whether x is that function.
func (p policyConversion) setResourceStrategy(x policyPriority, strategy string) bool {
	if p.Strategy != "" {
		p.AddNote("priority %s (weight %d): left out; NodeResourcesFit has only one strategy, which is %s", x.Name, x.Weight, p.Strategy)
		return false
	}
	p.Strategy = strategy
	p.Weights["NodeResourcesFit"] += x.Weight
	return true
}

func (p policyConversion) convertPredicates(policy *LegacyPolicy) {
	for _, x := range policy.Predicates {
		switch {
		case x.Argument != nil && x.Argument.ServiceAffinity != nil:
			p.AddNote("predicate %s (serviceAffinity on %s): no equivalent; give the pods affinity to each other by these labels", x.Name, strings.Join(x.Argument.ServiceAffinity.Labels, ", "))
		case x.Argument != nil:
		case strings.HasPrefix(x.Name, "Max") && x.Name != "MaxCSIVolumeCountPred":
			p.AddNote("predicate %s: removed with the in-tree volume plugins; NodeVolumeLimits counts volumes by CSI driver", x.Name)
		default:
			if _, known := predicateFilters[x.Name]; !known {
				p.AddNote("predicate %s: no equivalent", x.Name)
			}
		}
	}
	if added := policy.labelsPresenceAffinity(); added != nil {
		p.RequiredTerms = added.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
	}
	off := slices.DeleteFunc(policy.disabledFilters(), func(f string) bool {
		return f == string(scheduler.NodeDeclaredFeatures) // no predicate had this function
	})
	if len(off) > 0 {
		slices.Sort(off)
		p.AddNote("the Policy lists no predicate for %s: these filters stay enabled, because they protect pods; to disable them use plugins.multiPoint", strings.Join(off, ", "))
	}
}
