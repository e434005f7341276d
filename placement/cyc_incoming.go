package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// Replacement is what holds for every pod of a class when it is scheduled.
type Replacement struct {
	class             *EquivalenceClass
	profile           *Compiled
	ViewNumber        int                // number of its view
	Requests          cluster.Resources  // of a new pod of the class
	ScoredRequests    cluster.Resources  // what scores take it to request
	Checked           *cluster.Resources // what NodeResourcesFit asks for; nil: it is not asked
	affinityOK        []bool             // node selector and required node affinity
	taintsOK          []bool             // NoSchedule and NoExecute taints
	NodeOK            []bool             // what CanRun says, by the profile's filters and added affinity
	ports             []HostPort         // NodePorts
	disks             []Disk             // VolumeRestrictions
	featuresOK        []bool             // NodeDeclaredFeatures; nil: all
	scorers           []Scorer           // score plugins of the profile
	Volumes           Placement
	Local             LocalResults
	Static            StaticScores
	spread            spreadRules
	InterPod          InterPodTerms
	policy            PolicyCounters
	Err               error  // why it cannot be read
	NamespacesUnknown string // why labels of namespaces are wanting; empty when they are not
}

// DropDisabledFilters forgets what filters that are not asked would look at.
func (in *Replacement) DropDisabledFilters() {
	off := in.profile.Off
	if off[NodePorts] {
		in.ports = nil
	}
	if off[VolumeRestrictions] {
		in.disks, in.Volumes.ExclusiveClaims = nil, nil
	}
	if off[VolumeZone] {
		in.Volumes.InZone = nil
	}
	if off[NodeDeclaredFeatures] {
		in.featuresOK = nil
	}
}

// CountsNoDomains reports that no filter of the class counts domains.
func (in *Replacement) CountsNoDomains() bool {
	return len(in.spread.hard)+len(in.InterPod.required)+len(in.InterPod.anti)+len(in.InterPod.existingAnti) == 0
}
