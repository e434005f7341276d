package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// LegacyPolicy is a scheduler Policy file, as kube-scheduler read it before 1.23
// in JSON or YAML. Where a list is left out, nil, defaults apply.
type LegacyPolicy struct {
	APIVersion                     string             `json:"apiVersion"`
	Kind                           string             `json:"kind"`
	Predicates                     *[]policyPredicate `json:"predicates"`
	Priorities                     *[]policyPriority  `json:"priorities"`
	Extenders                      []json.RawMessage  `json:"extenders"`
	HardPodAffinitySymmetricWeight *int               `json:"hardPodAffinitySymmetricWeight"`
	AlwaysCheckAllPredicates       bool               `json:"alwaysCheckAllPredicates"`
}

type policyPredicate struct {
	Name     string `json:"name"`
	Argument *struct {
		ServiceAffinity *struct {
			Labels []string `json:"labels"`
		} `json:"serviceAffinity"`
		LabelsPresence *struct {
			Labels   []string `json:"labels"`
			Presence bool     `json:"presence"`
		} `json:"labelsPresence"`
	} `json:"argument"`
}

type policyPriority struct {
	Name     string `json:"name"`
	Weight   int    `json:"weight"`
	Argument *struct {
		ServiceAntiAffinity *struct {
			Label string `json:"label"`
		} `json:"serviceAntiAffinity"`
		LabelPreference *struct {
			Label    string `json:"label"`
			Presence bool   `json:"presence"`
		} `json:"labelPreference"`
		RequestedToCapacityRatio *struct {
			Shape     []shapePoint   `json:"shape"`
			Resources []resourceSpec `json:"resources"`
		} `json:"requestedToCapacityRatioArguments"`
	} `json:"argument"`
}

// LoadPolicy reads a legacy Policy; name is used in errors, which name every
// mistake.
func LoadPolicy(name string, data []byte) (*LegacyPolicy, error) {
	if json.Valid(data) {
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" ")) // which YAML refuses; JSON has none in strings
	}
	root, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	e := &decoder{file: name, nodes: map[string]*yaml.Node{}, hasTypeError: map[string]bool{}}
	p := &LegacyPolicy{}
	e.decode(root, p)
	p.check(e)
	return p, e.err()
}

func (p *LegacyPolicy) check(e *decoder) {
	if p.Kind != "Policy" {
		e.fieldError("kind", "want Policy")
	}
	if p.APIVersion != "v1" && p.APIVersion != "kubescheduler.config.k8s.io/v1" {
		e.fieldError("apiVersion", "want v1")
	}
	if w := p.HardPodAffinitySymmetricWeight; w != nil {
		checkAffinityWeight(e, "hardPodAffinitySymmetricWeight", *w)
	}
	for i, x := range p.priorities() {
		p.checkPriority(e, fmt.Sprintf("priorities[%d]", i), x)
	}
	for i, x := range p.predicates() {
		at := fmt.Sprintf("predicates[%d]", i)
		if x.Name == "" {
			e.fieldError(at+".name", "is missing")
		}
		if x.Argument != nil && (x.Argument.ServiceAffinity == nil) == (x.Argument.LabelsPresence == nil) {
			e.fieldError(at+".argument", "want either serviceAffinity or labelsPresence")
		}
	}
}

func (p *LegacyPolicy) checkPriority(e *decoder, at string, x policyPriority) {
	if x.Name == "" {
		e.fieldError(at+".name", "is missing")
	}
	if x.Weight < 1 {
		e.fieldError(at+".weight", "%d is no weight (want 1 or more, or leave the priority out)", x.Weight)
	}
	a := x.Argument
	if a == nil {
		return
	}
	label := func(path, key string) {
		if len(validation.IsQualifiedName(key)) > 0 {
			e.fieldError(path+".label", "%q is not a label key", key)
		}
	}
	n := 0
	if a.ServiceAntiAffinity != nil {
		n++
		label(at+".argument.serviceAntiAffinity", a.ServiceAntiAffinity.Label)
	}
	if a.LabelPreference != nil {
		n++
		label(at+".argument.labelPreference", a.LabelPreference.Label)
	}
	if a.RequestedToCapacityRatio != nil {
		n++
		path := at + ".argument.requestedToCapacityRatioArguments"
		checkShape(e, path+".shape", a.RequestedToCapacityRatio.Shape)
		checkResourceWeights(e, path+".resources", a.RequestedToCapacityRatio.Resources, 100)
	}
	if n != 1 {
		e.fieldError(at+".argument", "want one of serviceAntiAffinity, labelPreference and requestedToCapacityRatioArguments")
	}
}

// priorities are those of the file, or the defaults.
func (p *LegacyPolicy) priorities() []policyPriority {
	if p.Priorities != nil {
		return *p.Priorities
	}
	var out []policyPriority
	for _, f := range scheduler.DefaultPolicy().Priorities {
		out = append(out, policyPriority{Name: f.Name, Weight: int(f.Weight)})
	}
	return out
}

func (p *LegacyPolicy) predicates() []policyPredicate {
	if p.Predicates != nil {
		return *p.Predicates
	}
	return nil
}

func (p *LegacyPolicy) hardWeight() int64 {
	if w := p.HardPodAffinitySymmetricWeight; w != nil {
		return int64(*w)
	}
	return 1
}

// predicateFilters are the filters that each predicate became. Those that look
// at a node's condition or taints are the mandatory ones.
var predicateFilters = map[string][]string{
	"PodFitsPorts": {"NodePorts"}, "PodFitsHostPorts": {"NodePorts"}, "PodFitsResources": {"NodeResourcesFit"},
	"HostName": {"NodeName"}, "MatchNodeSelector": {"NodeAffinity"},
	"GeneralPredicates": {"NodePorts", "NodeResourcesFit", "NodeName", "NodeAffinity"},
	"NoDiskConflict":    {"VolumeRestrictions"}, "NoVolumeZoneConflict": {"VolumeZone"}, "MaxCSIVolumeCountPred": {"NodeVolumeLimits"},
	"CheckVolumeBinding": {"VolumeBinding"}, "MatchInterPodAffinity": {"InterPodAffinity"}, "EvenPodsSpread": {"PodTopologySpread"},
	"PodToleratesNodeTaints": {}, "PodToleratesNodeNoExecuteTaints": {}, "CheckNodeUnschedulable": {}, "CheckNodeCondition": {},
	"CheckNodeMemoryPressure": {}, "CheckNodeDiskPressure": {}, "CheckNodePIDPressure": {},
	"MaxEBSVolumeCount": {}, "MaxGCEPDVolumeCount": {}, "MaxAzureDiskVolumeCount": {}, "MaxCinderVolumeCount": {},
}

// mandatoryFilters filters are on whatever the Policy lists.
var mandatoryFilters = []string{"TaintToleration", "NodeUnschedulable"}

// filtersOff are the filters that no listed predicate became.
func (p *LegacyPolicy) filtersOff() []string {
	if p.Predicates == nil {
		return nil
	}
	on := slices.Clone(mandatoryFilters)
	for _, x := range *p.Predicates {
		on = append(on, predicateFilters[x.Name]...)
	}
	var off []string
	for _, f := range filterPlugins {
		if !slices.Contains(on, f) {
			off = append(off, f)
		}
	}
	return off
}

// Profile is how a scheduler that follows the Policy places pods.
func (p *LegacyPolicy) Profile() scheduler.Profile {
	legacy := scheduler.Policy{HardPodAffinityWeight: p.hardWeight()}
	for _, x := range p.priorities() {
		f := scheduler.Priority{Name: x.Name, Weight: int64(x.Weight)}
		if a := x.Argument; a != nil && a.ServiceAntiAffinity != nil {
			f.AntiAffinityLabel = a.ServiceAntiAffinity.Label
		} else if a != nil && a.LabelPreference != nil {
			f.PreferLabel, f.PreferAbsent = a.LabelPreference.Label, !a.LabelPreference.Presence
		}
		legacy.Priorities = append(legacy.Priorities, f)
	}
	out := scheduler.PolicyProfile(legacy)
	for _, f := range p.filtersOff() {
		out.FiltersOff = append(out.FiltersOff, scheduler.Filter(f))
	}
	out.AddedAffinity = p.labelsPresence()
	for _, x := range p.predicates() {
		if x.Argument != nil && x.Argument.ServiceAffinity != nil {
			out.Unknown = "its predicate " + x.Name + " (serviceAffinity) is not modelled"
		} else if _, known := predicateFilters[x.Name]; !known && x.Argument == nil {
			out.Unknown = "its predicate " + x.Name + " is not modelled"
		}
	}
	if len(p.Extenders) > 0 {
		out.Unknown = "extender " + extenderName(p.Extenders[0]) + " is asked, which is not modelled"
	}
	return out
}

// labelsPresence are the predicates of that kind as required node affinity.
func (p *LegacyPolicy) labelsPresence() *corev1.NodeAffinity {
	var term corev1.NodeSelectorTerm
	for _, x := range p.predicates() {
		if x.Argument == nil || x.Argument.LabelsPresence == nil {
			continue
		}
		op := corev1.NodeSelectorOpDoesNotExist
		if x.Argument.LabelsPresence.Presence {
			op = corev1.NodeSelectorOpExists
		}
		for _, key := range x.Argument.LabelsPresence.Labels {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: op})
		}
	}
	if len(term.MatchExpressions) == 0 {
		return nil
	}
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}
}
