package filter

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// FeasibleNodes appends the nodes onto which every filter lets the newcomer; waiting
// pods are judged by refusedBesideWaiting.
func FeasibleNodes(r *cycle.Attempt, out []cluster.NodeID) []cluster.NodeID {
	if r.ClaimInUse != "" {
		return out
	}
	local := r.Replacement.CountsNoDomains()
	for n, ok := range r.Replacement.Local.OK {
		if ok && (local || topologySpread(r, n) && interPodAffinity(r, n)) {
			out = append(out, cluster.NodeID(n))
		}
	}
	return out
}

// RefusedBy returns the first filter that refuses the node, in the order of the
// scheduler; "" for none.
func RefusedBy(r *cycle.Attempt, n int) scheduler.Filter {
	if f := refusedByNode(r.Model, r.Replacement, n); f != "" {
		return f
	}
	switch in := r.Replacement; {
	case r.Model.Ports.Taken(in.Ports, n) != 0:
		return scheduler.NodePorts
	case in.Checked != nil && missingResource(r.Model, in.Checked, n) != "":
		return scheduler.NodeResourcesFit
	case r.ClaimInUse != "" || r.Model.Disks.Conflicts(in.Disks, n) || !claimsBeside(r):
		return scheduler.VolumeRestrictions
	case r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n) != "":
		return scheduler.NodeVolumeLimits
	case in.Volumes.Refused != "" || in.Volumes.Bindable != nil && !in.Volumes.Bindable[n]:
		return scheduler.VolumeBinding
	case in.Volumes.InZone != nil && !in.Volumes.InZone[n]:
		return scheduler.VolumeZone
	case !topologySpread(r, n):
		return scheduler.PodTopologySpread
	case !r.SkipInterPod && !interPodAffinity(r, n):
		return scheduler.InterPodAffinity
	case in.FeaturesOK != nil && !in.FeaturesOK[n]:
		return scheduler.NodeDeclaredFeatures
	}
	return ""
}
