package cycle

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
)

// Replacement is what holds for every pod of a class when it is scheduled.
type Replacement struct {
	Class                  *model.EquivalenceClass
	Profile                *scheduler.Compiled
	NodeChecksID           int                // number of its view
	Requests               cluster.Resources  // of a new pod of the class
	ScoredRequests         cluster.Resources  // what scores take it to request
	CheckedRequests        *cluster.Resources // what NodeResourcesFit asks for; nil: it is not asked
	AffinityOK             []bool             // node selector and required node affinity
	TaintsOK               []bool             // NoSchedule and NoExecute taints
	CanRun                 []bool             // what CanRun says, by the profile's filters and added affinity
	Ports                  []model.HostPort   // NodePorts
	Disks                  []volume.Disk      // VolumeRestrictions
	FeaturesOK             []bool             // NodeDeclaredFeatures; nil: all
	Scorers                []Scorer           // score plugins of the profile
	Volumes                volume.Placement
	Local                  LocalResults
	StaticScores           StaticScores
	Spread                 SpreadRules
	InterPod               InterPodTerms
	Policy                 PolicyCounters
	Err                    error  // why it cannot be read
	UnknownNamespaceReason string // why labels of namespaces are wanting; empty when they are not
}

// DropDisabledFilters forgets what filters that are not asked would look at.
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

// HasNoDomainFilters reports that no filter of the class counts domains.
func (in *Replacement) HasNoDomainFilters() bool {
	return len(in.Spread.Hard)+len(in.InterPod.Required)+len(in.InterPod.Anti)+len(in.InterPod.ExistingAnti) == 0
}

// CloneFor copies a replacement for the copy of its class in a cloned model. The
// results that depend on the pods of each node are found anew.
func (r *Replacement) CloneFor(c *model.EquivalenceClass, k *model.ClonedCounters) *Replacement {
	in := *r
	in.Class, in.Local = c, LocalResults{}
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
	in.Policy.Selected, in.Policy.Service = k.Counter(in.Policy.Selected), k.Counter(in.Policy.Service)
	return &in
}

// PolicyCounters are what the spread functions of a legacy Policy read.
type PolicyCounters struct {
	Selected *model.PodCounter // pods that match every selector of the pod's owners
	Service  *model.PodCounter // pods of the first Service that selects the pod; nil for none
	Zones    *model.Topology
}

// LocalResults is what a class finds on each node that depends on the pods there and on
// nothing else in the cluster. It stays true until pods come or go, so that a
// prediction looks anew at a few nodes only.
type LocalResults struct {
	SeenChanges  int    // how many changes of the world it has taken in
	Passes       []bool // every filter but those that count domains
	ResourcesFit []int8 // NodeResourcesFit by the profile's strategy; nil: it does not score
	Balanced     []int8 // BalancedAllocation; nil: it does not score
}

// StaticScores are the parts of the scores that no other pod changes, by node.
// All but those of volumes are shared, and read-only.
type StaticScores struct {
	PreferNoSchedule []int64 // untolerated PreferNoSchedule taints
	Preferred        []int64 // sum of matching preferred node affinity weights; nil: none
	Images           []int8  // nil: no image of the pod is on any node
	HintTaint        int64   // what the steering taint adds to taints: 0 where it is tolerated
}

// NodeChecks is what a pod spec makes of the nodes themselves: their readiness, taints
// and labels. Pods of one selector, node affinity, tolerations and profile (as
// far as that matters) share it, so
// that thousands of classes on thousands of nodes stay small. It is read-only.
type NodeChecks struct {
	ID           int    // tells it apart from others
	AffinityOK   []bool // node selector and required node affinity
	TaintsOK     []bool // NoSchedule and NoExecute taints
	CanRun       []bool // what CanRun says, by the profile's filters and added affinity
	StaticScores StaticScores
	Err          error // why it cannot be read
}
