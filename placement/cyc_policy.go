package placement

// PolicyCounters are what the spread functions of a legacy Policy read.
type PolicyCounters struct {
	Selected *PodCounter // pods that match every selector of the pod's owners
	service  *PodCounter // pods of the first Service that selects the pod; nil for none
	zones    *Topology
}
