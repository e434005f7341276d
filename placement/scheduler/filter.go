package scheduler

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// Filter is the name of a scheduler filter. The constants are in the order in which the scheduler
// runs the filters.
type Filter string

const (
	NodeNotReady         Filter = "NodeNotReady" // not a scheduler plugin: the node controller taints such nodes
	NodeUnschedulable    Filter = "NodeUnschedulable"
	TaintToleration      Filter = "TaintToleration"
	NodeAffinity         Filter = "NodeAffinity"
	NodePorts            Filter = "NodePorts"
	NodeResourcesFit     Filter = "NodeResourcesFit"
	VolumeRestrictions   Filter = "VolumeRestrictions"
	NodeVolumeLimits     Filter = "NodeVolumeLimits"
	VolumeBinding        Filter = "VolumeBinding"
	VolumeZone           Filter = "VolumeZone"
	PodTopologySpread    Filter = "PodTopologySpread"
	InterPodAffinity     Filter = "InterPodAffinity"
	NodeDeclaredFeatures Filter = "NodeDeclaredFeatures"
	// NominatedPods is not a scheduler plugin. The filter refuses a node if the pod fits there only
	// without the pods that are nominated to the node.
	NominatedPods Filter = "NominatedPods"
)

// ComparisonOperators says that tolerations with the operators Gt and Lt match. The API server accepts such tolerations
// only if the feature gate TaintTolerationComparisonOperators is on, so a cluster whose pods have them has the gate.
const ComparisonOperators = true

// SwitchableFilters are the filters that a profile may disable. If a profile disables another
// filter, no placement is predicted for the pods that this filter affects.
var SwitchableFilters = []Filter{
	NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions,
	NodeVolumeLimits, VolumeZone, PodTopologySpread, InterPodAffinity, NodeDeclaredFeatures,
}

// ReadsHintLabel reports whether the pod's node selector or node affinity, or the profile's
// addedAffinity, reads the hint label.
func (p *Compiled) ReadsHintLabel(pod *corev1.Pod) bool {
	_, selects := pod.Spec.NodeSelector[hints.Key]
	a := pod.Spec.Affinity
	return selects || a != nil && selectsHintLabel(a.NodeAffinity) || selectsHintLabel(p.AddedAffinity)
}

// selectsHintLabel reports whether a term of the node affinity reads the hint label.
func selectsHintLabel(a *corev1.NodeAffinity) bool {
	if a == nil {
		return false
	}
	looks := func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == hints.Key })
	}
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && slices.ContainsFunc(r.NodeSelectorTerms, looks) {
		return true
	}
	return slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution,
		func(t corev1.PreferredSchedulingTerm) bool { return looks(t.Preference) })
}
