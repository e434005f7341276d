package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// FeasibleNodes appends the nodes onto which every filter lets the newcomer; waiting
// pods are judged by refusedBesideWaiting.
func FeasibleNodes(r *Attempt, out []cluster.NodeID) []cluster.NodeID {
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
func RefusedBy(r *Attempt, n int) Filter {
	if f := refusedByNode(r.Model, r.Replacement, n); f != "" {
		return f
	}
	switch in := r.Replacement; {
	case r.Model.Ports.taken(in.ports, n) != 0:
		return NodePorts
	case in.Checked != nil && missingResource(r.Model, in.Checked, n) != "":
		return NodeResourcesFit
	case r.ClaimInUse != "" || r.Model.Disks.Conflicts(in.disks, n) || !claimsBeside(r):
		return VolumeRestrictions
	case r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n) != "":
		return NodeVolumeLimits
	case in.Volumes.Refused != "" || in.Volumes.Bindable != nil && !in.Volumes.Bindable[n]:
		return VolumeBinding
	case in.Volumes.InZone != nil && !in.Volumes.InZone[n]:
		return VolumeZone
	case !topologySpread(r, n):
		return PodTopologySpread
	case !r.SkipInterPod && !interPodAffinity(r, n):
		return InterPodAffinity
	case in.featuresOK != nil && !in.featuresOK[n]:
		return NodeDeclaredFeatures
	}
	return ""
}
