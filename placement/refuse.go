package placement

// passes reports whether every filter lets the newcomer onto the node; waiting
// pods are judged by refusedBesideWaiting.
func (r *round) passes(n int) bool {
	return r.in.fit.ok[n] && r.claim == "" && r.spreads(n) && r.agrees(n)
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
