package scheduler

// Filter names a filter of the scheduler, in the order in which they are asked.
type Filter string

const (
	NodeNotReady         Filter = "NodeNotReady" // ours: the node controller taints such nodes
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
	// NominatedPods is ours: the node passes, but not beside the pods that wait
	// for it.
	NominatedPods Filter = "NominatedPods"
)

// ComparisonOperators is the gate TaintTolerationComparisonOperators, off by
// default in 1.36 and 1.37.
const ComparisonOperators = false

// SwitchableFilters are the filters that can be modelled as switched off. Of one
// that is not here, nothing is foretold for the pods that it is about.
var SwitchableFilters = []Filter{
	NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions,
	NodeVolumeLimits, VolumeZone, PodTopologySpread, InterPodAffinity, NodeDeclaredFeatures,
}
