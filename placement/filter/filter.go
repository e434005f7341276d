package filter

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// RefusedBy returns the first filter, in the order of the scheduler, that refuses the node; empty
// if the node passes.
func RefusedBy(r *cycle.Attempt, n int) scheduler.Filter {
	in := r.Replacement
	if !in.CanRun[n] {
		return RefusedBySpec(r.Model, in.Class.Sample.Object, in.Profile, n, in.AffinityOK[n], in.TaintsOK[n])
	}
	switch used := &r.Model.Requests[n]; {
	case r.Model.Ports.FirstTaken(in.Ports, n) != 0:
		return scheduler.NodePorts
	case !Fits(&r.Model.Snap.Nodes[n], in.CheckedRequests, &used.Resources, used.Pods):
		return scheduler.NodeResourcesFit
	case r.ClaimInUse != "" || r.Model.Disks.Conflicts(in.Disks, n) || !nominatedPodsLeaveClaims(r):
		return scheduler.VolumeRestrictions
	case r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n) != "":
		return scheduler.NodeVolumeLimits
	case in.Volumes.RefusedReason != "" || in.Volumes.Bindable != nil && !in.Volumes.Bindable[n]:
		return scheduler.VolumeBinding
	case in.Volumes.InZone != nil && !in.Volumes.InZone[n]:
		return scheduler.VolumeZone
	case !PassesTopologySpread(r, n, true):
		return scheduler.PodTopologySpread
	case !r.SkipInterPod && !PassesInterPodAffinity(r, n, in.InterPod.Anti, in.InterPod.ExistingAnti):
		return scheduler.InterPodAffinity
	case in.FeaturesOK != nil && !in.FeaturesOK[n]:
		return scheduler.NodeDeclaredFeatures
	}
	return ""
}

// nominatedPodsLeaveClaims reports whether no nominated pod uses an exclusive claim of the
// replacement. As in the scheduler, the check for claims of nominated pods runs only for a
// replacement with exclusive disks.
func nominatedPodsLeaveClaims(r *cycle.Attempt) bool {
	if len(r.Replacement.Disks) == 0 {
		return true
	}
	for _, name := range r.Replacement.Volumes.ExclusiveClaims {
		if slices.ContainsFunc(r.Nominated, func(p cluster.PodID) bool { return slices.Contains(r.Model.PodClass[p].Claims, name) }) {
			return false
		}
	}
	return true
}
