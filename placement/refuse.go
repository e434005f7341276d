package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// localOnly reports that no filter of the class counts domains.
func (in *incoming) localOnly() bool {
	return len(in.spread.hard)+len(in.inter.required)+len(in.inter.anti)+len(in.inter.existingAnti) == 0
}

// passing appends the nodes onto which every filter lets the newcomer; waiting
// pods are judged by refusedBesideWaiting.
func (r *round) passing(out []cluster.NodeID) []cluster.NodeID {
	if r.claim != "" {
		return out
	}
	local := r.in.localOnly()
	for n, ok := range r.in.fit.ok {
		if ok && (local || r.spreads(n) && r.agrees(n)) {
			out = append(out, cluster.NodeID(n))
		}
	}
	return out
}

// refusedBy returns the first filter that refuses the node, in the order of the
// scheduler; "" for none.
func (r *round) refusedBy(n int) Filter {
	if f := r.w.refusedAlways(r.in, n); f != "" {
		return f
	}
	switch in := r.in; {
	case r.w.portTaken(in.class, n) != 0:
		return NodePorts
	case r.w.lacking(&in.request, n) != "":
		return NodeResourcesFit
	case r.claim != "" || r.w.diskTaken(in.class, n) || !r.claimsBeside():
		return VolumeRestrictions
	case r.w.noAttach(in, n) != "":
		return NodeVolumeLimits
	case in.noClaim != "" || in.bindOK != nil && !in.bindOK[n]:
		return VolumeBinding
	case in.zoneOK != nil && !in.zoneOK[n]:
		return VolumeZone
	case !r.spreads(n):
		return PodTopologySpread
	case !r.noInterPod && !r.agrees(n):
		return InterPodAffinity
	case in.featuresOK != nil && !in.featuresOK[n]:
		return NodeDeclaredFeatures
	}
	return ""
}

func (w *World) refusedAlways(in *incoming, n int) Filter {
	switch {
	case in.canRun[n]:
		return ""
	case !w.snap.Nodes[n].Ready:
		return NodeNotReady
	case !schedulable(in.class.sample.Object, w.snap.Nodes[n].Object):
		return NodeUnschedulable
	case !in.taintsOK[n]:
		return TaintToleration
	}
	return NodeAffinity
}
