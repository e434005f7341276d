package cycle

import (
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
