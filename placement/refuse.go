package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
)

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
	if f := r.m.refusedAlways(r.in, n); f != "" {
		return f
	}
	switch in := r.in; {
	case r.m.ports.taken(in.ports, n) != 0:
		return NodePorts
	case in.asked != nil && r.m.lacking(in.asked, n) != "":
		return NodeResourcesFit
	case r.claim != "" || r.m.held.diskTaken(in.disks, n) || !r.claimsBeside():
		return VolumeRestrictions
	case r.m.attachments.refuses(in.vol.attach, n) != "":
		return NodeVolumeLimits
	case in.vol.never != "" || in.vol.bindOK != nil && !in.vol.bindOK[n]:
		return VolumeBinding
	case in.vol.zoneOK != nil && !in.vol.zoneOK[n]:
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

// refusedAlways returns the first of the filters that depend on the node alone
// which refuses it.
func (w *clusterState) refusedAlways(in *incoming, n int) Filter {
	if in.canRun[n] {
		return ""
	}
	return w.refusedBySpec(in.class.sample.Object, in.profile, n, in.affinityOK[n], in.taintsOK[n])
}

// refusedBySpec is the same for a pod spec, by what its view says of the node.
func (w *clusterState) refusedBySpec(pod *corev1.Pod, p *profile, n int, affinityOK, taintsOK bool) Filter {
	switch node := &w.snap.Nodes[n]; {
	case !node.Ready && !toleratesUnready(pod):
		return NodeNotReady
	case !p.off[NodeUnschedulable] && !schedulable(pod, node.Object):
		return NodeUnschedulable
	case !p.off[TaintToleration] && !taintsOK:
		return TaintToleration
	case !p.off[NodeAffinity] && (!affinityOK || p.addedRequired != nil && !p.addedRequired.Match(w.object(n))):
		return NodeAffinity
	}
	return ""
}

// toleratesUnready: the scheduler knows a node that is not Ready by its taint
// only, which the node controller sets soon.
func toleratesUnready(pod *corev1.Pod) bool {
	return schedulinghelper.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, true)
}
