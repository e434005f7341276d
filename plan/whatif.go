package plan

// NodeChange is a change of the nodes of a cluster that is only imagined.
type NodeChange struct {
	// Without are the names of nodes that are gone.
	Without []string `json:"withoutNodes,omitempty"`
	// ZonesDown are zones whose nodes are gone.
	ZonesDown []string `json:"zonesDown,omitempty"`
	// Added are new nodes.
	Added []AddedNodes `json:"addedNodes,omitempty"`
}

// IsEmpty reports whether nothing changes.
func (c NodeChange) IsEmpty() bool { return len(c.Without)+len(c.ZonesDown)+len(c.Added) == 0 }

// AddedNodes are Count new nodes like an existing node.
type AddedNodes struct {
	Count int    `json:"count"`
	Like  string `json:"like"`
	// Zone is the zone of the new nodes, if it is not that of the existing node.
	Zone string `json:"zone,omitempty"`
}

// WhatIf says which pods find a node after a change of the nodes. No order is known in which the scheduler places pods,
// so it says what holds in every order.
type WhatIf struct {
	Change NodeChange `json:"change"`
	// Gone are the pods of nodes that are gone and that no controller replaces.
	Gone []PodRef `json:"gone"`
	// Pods are all pods without a node after the change: those of nodes that are gone, and those that were Pending.
	Pods []PodFit `json:"pods"`
	// Fits, MayNotFit and DoesNotFit count Pods.
	Fits       int `json:"fits"`
	MayNotFit  int `json:"mayNotFit"`
	DoesNotFit int `json:"doesNotFit"`
	// LeastPending and MostPending bound the number of Pods that stay Pending in any order. If MayPreempt is set, pods
	// with a lower priority than one of Pods may be preempted; they are not counted.
	LeastPending int  `json:"leastPending"`
	MostPending  int  `json:"mostPending"`
	MayPreempt   bool `json:"mayPreempt,omitempty"`
}

// PodFit says whether a pod without a node finds one.
type PodFit struct {
	Pod   PodRef    `json:"pod"`
	Owner ObjectRef `json:"owner"`
	// From is the node that is gone; empty for a pod that was Pending.
	From string `json:"from,omitempty"`
	// To is the node in the order that the plan assumes; empty if the pod stays Pending in it.
	To string `json:"to,omitempty"`
	// Reason is nil for a pod that fits in every order. Its code is DoesNotFit for a pod that fits in no order, and
	// otherwise MayNotFit or PlacementUnknown.
	Reason *Reason `json:"reason,omitempty"`
}
