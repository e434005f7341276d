package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// feasibleNodes appends the nodes onto which every filter lets the newcomer; waiting
// pods are judged by refusedBesideWaiting.
func feasibleNodes(r *round, out []cluster.NodeID) []cluster.NodeID {
	if r.claim != "" {
		return out
	}
	local := r.in.localOnly()
	for n, ok := range r.in.fit.ok {
		if ok && (local || passesSpread(r, n) && passesInterPod(r, n)) {
			out = append(out, cluster.NodeID(n))
		}
	}
	return out
}

// refusedBy returns the first filter that refuses the node, in the order of the
// scheduler; "" for none.
func refusedBy(r *round, n int) Filter {
	if f := refusedByNodeAlone(r.m, r.in, n); f != "" {
		return f
	}
	switch in := r.in; {
	case r.m.ports.taken(in.ports, n) != 0:
		return NodePorts
	case in.asked != nil && missingResource(r.m, in.asked, n) != "":
		return NodeResourcesFit
	case r.claim != "" || r.m.held.diskTaken(in.disks, n) || !claimsBeside(r):
		return VolumeRestrictions
	case r.m.attachments.refuses(in.vol.attach, n) != "":
		return NodeVolumeLimits
	case in.vol.never != "" || in.vol.bindOK != nil && !in.vol.bindOK[n]:
		return VolumeBinding
	case in.vol.zoneOK != nil && !in.vol.zoneOK[n]:
		return VolumeZone
	case !passesSpread(r, n):
		return PodTopologySpread
	case !r.noInterPod && !passesInterPod(r, n):
		return InterPodAffinity
	case in.featuresOK != nil && !in.featuresOK[n]:
		return NodeDeclaredFeatures
	}
	return ""
}
