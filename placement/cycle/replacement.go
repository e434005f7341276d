package cycle

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
)

// Replacement holds the data that filters and scores read for every replacement of one equivalence
// class.
type Replacement struct {
	Class   *model.EquivalenceClass
	Profile *scheduler.Compiled
	NodeChecks
	CountsPods             bool               // ScoredRequests, images, Spread, InterPod and CountersOfOthers are set
	Requests               cluster.Resources  // of a new pod of the class
	ScoredRequests         cluster.Resources  // requests that scores assume
	CheckedRequests        *cluster.Resources // requests that the filter NodeResourcesFit checks; nil: the filter is disabled
	Ports                  []model.HostPort   // NodePorts
	Disks                  []volume.Disk      // VolumeRestrictions
	FeaturesOK             []bool             // NodeDeclaredFeatures; nil: all
	Volumes                volume.Placement
	Spread                 SpreadRules
	InterPod               InterPodTerms
	CountersOfOthers       []*model.PodCounter // count the pods whose places decide on which nodes the replacement fits
	UnknownNamespaceReason string              // why namespace labels are not known; empty if they are
}

// DropDisabledFilters clears the data of the filters that the profile disables.
func (in *Replacement) DropDisabledFilters() {
	off := in.Profile.Disabled
	if off[scheduler.NodePorts] {
		in.Ports = nil
	}
	if off[scheduler.VolumeRestrictions] {
		in.Disks, in.Volumes.ExclusiveClaims = nil, nil
	}
	if off[scheduler.VolumeZone] {
		in.Volumes.InZone = nil
	}
	if off[scheduler.NodeDeclaredFeatures] {
		in.FeaturesOK = nil
	}
}

// AddCountersOfOthers fills in CountersOfOthers: the counters of required spread constraints, also
// those that the profile gives the class, of required affinity, and of required anti-affinity by
// domains of several nodes.
func (in *Replacement) AddCountersOfOthers() {
	for i := range in.Spread.Hard {
		in.CountersOfOthers = append(in.CountersOfOthers, in.Spread.Hard[i].Pods)
	}
	for _, t := range in.InterPod.Required {
		in.CountersOfOthers = append(in.CountersOfOthers, t.Pods)
	}
	for _, t := range in.InterPod.Anti {
		if !t.Topology.OneNodePerDomain {
			in.CountersOfOthers = append(in.CountersOfOthers, t.Pods)
		}
	}
}

// CloneFor copies a replacement for the copy of its class in a cloned model.
func (r *Replacement) CloneFor(c *model.EquivalenceClass, k *model.ClonedCounters) *Replacement {
	in := *r
	in.Class = c
	for _, list := range [...]*[]SpreadConstraint{&in.Spread.Hard, &in.Spread.Soft} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	p := &in.InterPod
	for _, list := range [...]*[]TermWithTopology{&p.Required, &p.Anti, &p.ExistingAnti, &p.Scored} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Pods = k.Counter((*list)[i].Pods)
		}
	}
	in.CountersOfOthers = slices.Clone(in.CountersOfOthers)
	for i, counter := range in.CountersOfOthers {
		in.CountersOfOthers[i] = k.Counter(counter)
	}
	return &in
}

// StaticScores are the parts of the scores that do not depend on other pods, by node. Several
// classes share these scores, so they are read-only.
type StaticScores struct {
	PreferNoSchedule []int64 // untolerated PreferNoSchedule taints
	Preferred        []int64 // sum of matching preferred node affinity weights; nil: none
	Images           []int8  // nil: no image of the pod is on any node
	HintTaint        int64   // 1 if the pod does not tolerate the steering taint
}

// NodeChecks are the results of checking a pod spec against the nodes' readiness, taints and
// labels. Pods with the same node selector, node affinity, tolerations and profile share these
// checks, so they are read-only.
type NodeChecks struct {
	ID           int    // unique ID
	AffinityOK   []bool // node selector and required node affinity
	TaintsOK     []bool // NoSchedule and NoExecute taints
	CanRun       []bool // readiness, cordon, taints, node affinity and the profile's addedAffinity
	StaticScores StaticScores
	Err          error // set if the node affinity is invalid; in a Replacement also for other selectors
}
