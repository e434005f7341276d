package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// incoming is what holds for every pod of a class when it is scheduled.
type incoming struct {
	class      *class
	profile    *profile
	view       int                // number of its view
	request    cluster.Resources  // of a new pod of the class
	assumed    cluster.Resources  // what scores take it to request
	asked      *cluster.Resources // what NodeResourcesFit asks for; nil: it is not asked
	affinityOK []bool             // node selector and required node affinity
	taintsOK   []bool             // NoSchedule and NoExecute taints
	canRun     []bool             // what CanRun says, by the profile's filters and added affinity
	ports      []hostPort         // NodePorts
	disks      []disk             // VolumeRestrictions
	featuresOK []bool             // NodeDeclaredFeatures; nil: all
	scorers    []scorer           // score plugins of the profile
	vol        volumePlaces
	fit        fit
	fixed      fixedScores
	spread     spreadRules
	inter      interPod
	policy     policyCounts
	err        error  // why it cannot be read
	namespaces string // why labels of namespaces are wanting; empty when they are not
}

// switchOff forgets what filters that are not asked would look at.
func (in *incoming) switchOff() {
	off := in.profile.off
	if off[NodePorts] {
		in.ports = nil
	}
	if off[VolumeRestrictions] {
		in.disks, in.vol.oncePod = nil, nil
	}
	if off[VolumeZone] {
		in.vol.zoneOK = nil
	}
	if off[NodeDeclaredFeatures] {
		in.featuresOK = nil
	}
}

// localOnly reports that no filter of the class counts domains.
func (in *incoming) localOnly() bool {
	return len(in.spread.hard)+len(in.inter.required)+len(in.inter.anti)+len(in.inter.existingAnti) == 0
}
