package cycle

import "github.com/evenkeel-project/evenkeel/placement/model"

// PolicyCounters are what the spread functions of a legacy Policy read.
type PolicyCounters struct {
	Selected *model.PodCounter // pods that match every selector of the pod's owners
	Service  *model.PodCounter // pods of the first Service that selects the pod; nil for none
	Zones    *model.Topology
}
