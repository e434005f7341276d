// Package convert reads configuration files of other programs: dynamicScheduler's rule.yaml, and the legacy Policy of
// kube-scheduler. It converts these files to Evenkeel's configuration, to a placement model, or to a
// KubeSchedulerConfiguration.
//
// Package convert maps each setting to its equivalent, and lists the settings without an equivalent. It never applies
// any setting.
package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/strict"
)

// LegacyPolicy is a scheduler Policy file, in JSON or YAML, for kube-scheduler before 1.23. If the file omits a list,
// the field is nil, and the defaults of kube-scheduler apply.
type LegacyPolicy struct {
	APIVersion                     string            `json:"apiVersion"`
	Kind                           string            `json:"kind"`
	Predicates                     []policyPredicate `json:"predicates"`
	Priorities                     []policyPriority  `json:"priorities"`
	Extenders                      []json.RawMessage `json:"extenders"`
	HardPodAffinitySymmetricWeight *int              `json:"hardPodAffinitySymmetricWeight"`
	AlwaysCheckAllPredicates       bool              `json:"alwaysCheckAllPredicates"`
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
			Shape     []schedulerconfig.ShapePoint   `json:"shape"`
			Resources []schedulerconfig.ResourceSpec `json:"resources"`
		} `json:"requestedToCapacityRatioArguments"`
	} `json:"argument"`
}

// LoadLegacyPolicy reads a legacy Policy. Errors contain the given file name, and list all mistakes in the file.
func LoadLegacyPolicy(name string, data []byte) (*LegacyPolicy, error) {
	if json.Valid(data) {
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" ")) // YAML rejects tabs; JSON strings cannot contain them
	}
	root, err := strict.Parse(name, data)
	if err != nil {
		return nil, err
	}
	d := strict.New(name, strict.Options{})
	p := &LegacyPolicy{}
	d.Decode(root, p)
	p.check(d)
	return p, d.Err()
}

func (p *LegacyPolicy) check(d *strict.Decoder) {
	if p.Kind != "Policy" {
		d.Errorf("kind", "want Policy")
	}
	if p.APIVersion != "v1" && p.APIVersion != "kubescheduler.config.k8s.io/v1" {
		d.Errorf("apiVersion", "want v1")
	}
	if w := p.HardPodAffinitySymmetricWeight; w != nil {
		schedulerconfig.CheckAffinityWeight(d, "hardPodAffinitySymmetricWeight", *w)
	}
	for i, x := range p.priorities() {
		p.checkPriority(d, fmt.Sprintf("priorities[%d]", i), x)
	}
	for i, x := range p.Predicates {
		at := fmt.Sprintf("predicates[%d]", i)
		if x.Name == "" {
			d.Errorf(at+".name", "is missing")
		}
		if x.Argument != nil && (x.Argument.ServiceAffinity == nil) == (x.Argument.LabelsPresence == nil) {
			d.Errorf(at+".argument", "want either serviceAffinity or labelsPresence")
		}
	}
}

func (p *LegacyPolicy) checkPriority(d *strict.Decoder, at string, x policyPriority) {
	if x.Name == "" {
		d.Errorf(at+".name", "is missing")
	}
	if x.Weight < 1 {
		d.Errorf(at+".weight", "%d is not a valid weight (want 1 or more, or leave the priority out)", x.Weight)
	}
	a := x.Argument
	if a == nil {
		return
	}
	label := func(path, key string) {
		if len(validation.IsQualifiedName(key)) > 0 {
			d.Errorf(path+".label", "%q is not a label key", key)
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
		schedulerconfig.CheckShape(d, path+".shape", a.RequestedToCapacityRatio.Shape)
		schedulerconfig.CheckResourceWeights(d, path+".resources", a.RequestedToCapacityRatio.Resources, 100)
	}
	if n != 1 {
		d.Errorf(at+".argument", "want one of serviceAntiAffinity, labelPreference and requestedToCapacityRatioArguments")
	}
}

// priorities returns the priorities of the file, or the default priorities of kube-scheduler.
func (p *LegacyPolicy) priorities() []policyPriority {
	if p.Priorities != nil {
		return p.Priorities
	}
	return []policyPriority{
		{Name: "SelectorSpreadPriority", Weight: 1}, {Name: "InterPodAffinityPriority", Weight: 1}, {Name: "LeastRequestedPriority", Weight: 1},
		{Name: "BalancedResourceAllocation", Weight: 1}, {Name: "NodePreferAvoidPodsPriority", Weight: 10000},
		{Name: "NodeAffinityPriority", Weight: 1}, {Name: "TaintTolerationPriority", Weight: 1},
	}
}

// predicateFilters maps each predicate to the filter plugins that replaced it. Predicates about conditions and taints
// of nodes map to an empty list, because mandatoryFilters replaced them.
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

// mandatoryFilters are enabled even if the Policy does not list their predicates.
var mandatoryFilters = []string{"TaintToleration", "NodeUnschedulable"}

// disabledFilters returns the filter plugins whose predicates the Policy omits.
func (p *LegacyPolicy) disabledFilters() []string {
	if p.Predicates == nil {
		return nil
	}
	on := slices.Clone(mandatoryFilters)
	for _, x := range p.Predicates {
		on = append(on, predicateFilters[x.Name]...)
	}
	var off []string
	for _, f := range schedulerconfig.FilterPlugins {
		if !slices.Contains(on, f) {
			off = append(off, f)
		}
	}
	return off
}

// labelsPresenceAffinity returns the labelsPresence predicates as required node affinity, or nil if there are none.
func (p *LegacyPolicy) labelsPresenceAffinity() *corev1.NodeAffinity {
	var term corev1.NodeSelectorTerm
	for _, x := range p.Predicates {
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
