package plan

// Change is a change of a cluster that is only imagined.
type Change struct {
	// Without are the names of nodes that are gone.
	Without []string `json:"withoutNodes,omitempty"`
	// ZonesDown are zones whose nodes are gone.
	ZonesDown []string `json:"zonesDown,omitempty"`
	// Added are new nodes.
	Added []AddedNodes `json:"addedNodes,omitempty"`
	// Replicas are further replicas of workloads.
	Replicas []AddedReplicas `json:"addedReplicas,omitempty"`
}

// IsEmpty reports whether nothing changes.
func (c Change) IsEmpty() bool {
	return len(c.Without)+len(c.ZonesDown)+len(c.Added)+len(c.Replicas) == 0
}

// AddedNodes are Count new nodes like an existing node.
type AddedNodes struct {
	Count int    `json:"count"`
	Like  string `json:"like"`
	// Zone is the zone of the new nodes, if it is not that of the existing node.
	Zone string `json:"zone,omitempty"`
}

// AddedReplicas are Count further replicas of a workload.
type AddedReplicas struct {
	Workload ObjectRef `json:"workload"`
	Count    int       `json:"count"`
}

// CapacityAdvice says that new nodes are enough for unmet goals and Pending pods. It was found by planning again: one
// node fewer is not enough for as many, but fewer nodes of another kind may be.
type CapacityAdvice struct {
	Nodes AddedNodes `json:"nodes"`
	// Pool is the label that names the pool of the existing node, such as karpenter.sh/nodepool=general.
	Pool string `json:"pool,omitempty"`
	// Goals of UnmetGoals, and Pods of PendingPods, are those for which the nodes are enough. Both are counted after a
	// plan without the limits of a pass.
	Goals       int `json:"goals"`
	UnmetGoals  int `json:"unmetGoals"`
	Pods        int `json:"pods"`
	PendingPods int `json:"pendingPods"`
	// FewerUntested says that the search ended before it found out whether fewer nodes are enough.
	FewerUntested bool `json:"fewerUntested,omitempty"`
}

// Advice is what capacity would help.
type Advice struct {
	// Capacity is empty if no tried capacity helps.
	Capacity []CapacityAdvice `json:"capacity"`
	// UnmetGoals and PendingPods are those for which capacity was tried, with Plans plans.
	UnmetGoals  int `json:"unmetGoals"`
	PendingPods int `json:"pendingPods"`
	Plans       int `json:"plans"`
	// Stopped says that limits.maxPlanTime, or the number of plans, ended the search.
	Stopped bool `json:"stopped,omitempty"`
}

// WhatIf says which pods find a node after a change of the nodes. No order is known in which the scheduler places pods,
// so it says what holds in every order.
type WhatIf struct {
	Change Change `json:"change"`
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
	// Advice is nil unless it was asked for.
	Advice *Advice `json:"advice,omitempty"`
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
