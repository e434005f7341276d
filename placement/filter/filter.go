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
	local := r.Replacement.HasNoDomainFilters()
	for n, ok := range r.Replacement.Local.Passes {
		if ok && (local || passesTopologySpread(r, n) && passesInterPodAffinity(r, n)) {
			out = append(out, cluster.NodeID(n))
		}
	}
	return out
}

// RefusedBy returns the first filter that refuses the node, in the order of the
// scheduler; "" for none.
func RefusedBy(r *cycle.Attempt, n int) scheduler.Filter {
	if f := refusedByNodeChecks(r.Model, r.Replacement, n); f != "" {
		return f
	}
	switch in := r.Replacement; {
	case r.Model.Ports.Taken(in.Ports, n) != 0:
		return scheduler.NodePorts
	case in.CheckedRequests != nil && missingResource(r.Model, in.CheckedRequests, n) != "":
		return scheduler.NodeResourcesFit
	case r.ClaimInUse != "" || r.Model.Disks.Conflicts(in.Disks, n) || !nominatedPodsLeaveClaims(r):
		return scheduler.VolumeRestrictions
	case r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n) != "":
		return scheduler.NodeVolumeLimits
	case in.Volumes.RefusedReason != "" || in.Volumes.Bindable != nil && !in.Volumes.Bindable[n]:
		return scheduler.VolumeBinding
	case in.Volumes.InZone != nil && !in.Volumes.InZone[n]:
		return scheduler.VolumeZone
	case !passesTopologySpread(r, n):
		return scheduler.PodTopologySpread
	case !r.SkipInterPod && !passesInterPodAffinity(r, n):
		return scheduler.InterPodAffinity
	case in.FeaturesOK != nil && !in.FeaturesOK[n]:
		return scheduler.NodeDeclaredFeatures
	}
	return ""
}
