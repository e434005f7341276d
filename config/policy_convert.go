package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// pluginOfPriority are the score plugins that priority functions became. A weight carries
// over as it is: every function's 0..10 became 0..100.
var pluginOfPriority = map[string]string{
	"InterPodAffinityPriority": "InterPodAffinity", "NodeAffinityPriority": "NodeAffinity", "TaintTolerationPriority": "TaintToleration",
	"ImageLocalityPriority": "ImageLocality", "BalancedResourceAllocation": "NodeResourcesBalancedAllocation", "EvenPodsSpreadPriority": "PodTopologySpread",
}

// convertPolicy fills the profile with what a Policy says.
func (p *profileBuilder) convertPolicy(policy *LegacyPolicy) {
	for _, x := range policy.priorities() {
		p.convertPriority(x)
	}
	for _, name := range scorePlugins {
		var w scheduler.Weights
		if _, scores := w.ScorePlugins()[name]; scores && p.weights[name] == 0 {
			p.scoresOff = append(p.scoresOff, name)
		}
	}
	if n := len(p.spreadKeys); n > 2 {
		p.addNote("PodTopologySpread has one weight (%d) for its %d default constraints together", p.weights["PodTopologySpread"], n)
	}
	p.convertPredicates(policy)
	p.hardPodAffinityWeight = policy.HardPodAffinitySymmetricWeight
	if policy.AlwaysCheckAllPredicates {
		p.addNote("alwaysCheckAllPredicates: gone; it changed only what is reported")
	}
	for _, x := range policy.Extenders {
		p.addNote("extender %s: not converted; copy it under extenders: of this file, where Evenkeel foretells nothing any more", extenderName(x))
	}
}

func (p *profileBuilder) addNote(format string, args ...any) {
	// The names are the file's, and the note becomes one line of comment.
	oneLine := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	p.notes = append(p.notes, oneLine)
}

func (p *profileBuilder) convertPriority(x policyPriority) {
	if a := x.Argument; a != nil {
		switch {
		case a.ServiceAntiAffinity != nil:
			p.addAntiAffinity(x, a.ServiceAntiAffinity.Label)
		case a.LabelPreference != nil:
			p.addLabelPreference(x, a.LabelPreference.Label, a.LabelPreference.Presence)
		case a.RequestedToCapacityRatio != nil:
			if p.setResourceStrategy(x, string(scheduler.RequestedToCapacityRatio)) {
				p.shape, p.resources = a.RequestedToCapacityRatio.Shape, a.RequestedToCapacityRatio.Resources
			}
		}
		return
	}
	switch x.Name {
	case "SelectorSpreadPriority", "ServiceSpreadingPriority":
		p.weights["PodTopologySpread"] += x.Weight
		p.addSpreadKey(corev1.LabelTopologyZone)
		p.addSpreadKey(corev1.LabelHostname)
	case "LeastRequestedPriority":
		p.setResourceStrategy(x, string(scheduler.LeastAllocated))
	case "MostRequestedPriority":
		p.setResourceStrategy(x, string(scheduler.MostAllocated))
	case "EqualPriority": // the same for every node
	case "NodePreferAvoidPodsPriority":
		p.addNote("priority %s (weight %d): no equivalent, the annotation preferAvoidPods is not read any more; taint such nodes PreferNoSchedule", x.Name, x.Weight)
	default:
		if name := pluginOfPriority[x.Name]; name != "" {
			p.weights[name] += x.Weight
			return
		}
		p.addNote("priority %s (weight %d): no equivalent", x.Name, x.Weight)
	}
}

func (p *profileBuilder) addSpreadKey(key string) {
	if !slices.Contains(p.spreadKeys, key) {
		p.spreadKeys = append(p.spreadKeys, key)
	}
}

func (p *profileBuilder) addAntiAffinity(x policyPriority, label string) {
	p.weights["PodTopologySpread"] += x.Weight
	p.addSpreadKey(label)
	p.addNote("priority %s (serviceAntiAffinity on %s, weight %d): a default constraint of PodTopologySpread, which counts the pods of the owner, not of the first Service alone", x.Name, label, x.Weight)
}

func (p *profileBuilder) addLabelPreference(x policyPriority, label string, presence bool) {
	op := corev1.NodeSelectorOpDoesNotExist
	if presence {
		op = corev1.NodeSelectorOpExists
	}
	p.weights["NodeAffinity"] += x.Weight
	p.addPreferredTerm(int32(min(x.Weight, 100)), corev1.NodeSelectorRequirement{Key: label, Operator: op})
	p.addNote("priority %s (labelPreference on %s, weight %d): a preferred term of addedAffinity, which shares its points with each pod's own preferred node affinity", x.Name, label, x.Weight)
}

// setResourceStrategy takes the first function about requests; the plugin has one
// strategy only.
func (p *profileBuilder) setResourceStrategy(x policyPriority, strategy string) bool {
	if p.strategy != "" {
		p.addNote("priority %s (weight %d): left out, since NodeResourcesFit has one strategy and is %s already", x.Name, x.Weight, p.strategy)
		return false
	}
	p.strategy = strategy
	p.weights["NodeResourcesFit"] += x.Weight
	return true
}

func (p *profileBuilder) convertPredicates(policy *LegacyPolicy) {
	for _, x := range policy.predicates() {
		switch {
		case x.Argument != nil && x.Argument.ServiceAffinity != nil:
			p.addNote("predicate %s (serviceAffinity on %s): no equivalent; give the pods affinity to each other by those labels", x.Name, strings.Join(x.Argument.ServiceAffinity.Labels, ", "))
		case x.Argument != nil:
		case strings.HasPrefix(x.Name, "Max") && x.Name != "MaxCSIVolumeCountPred":
			p.addNote("predicate %s: gone with the volume plugins inside Kubernetes; NodeVolumeLimits counts by CSI driver", x.Name)
		default:
			if _, known := predicateFilters[x.Name]; !known {
				p.addNote("predicate %s: no equivalent", x.Name)
			}
		}
	}
	if added := policy.labelsPresence(); added != nil {
		p.requiredTerms = added.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
	}
	off := slices.DeleteFunc(policy.filtersOff(), func(f string) bool {
		return f == string(scheduler.NodeDeclaredFeatures) // no predicate ever was that
	})
	if len(off) > 0 {
		slices.SortFunc(off, cmp.Compare[string])
		p.addNote("the Policy lists no predicate for %s: these filters stay on, as they protect pods; disable them under plugins.multiPoint if you mean it", strings.Join(off, ", "))
	}
}
