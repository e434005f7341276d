package scheduler

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
