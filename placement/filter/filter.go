package filter

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
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

// PassesInterPodAffinity is the filter InterPodAffinity. It checks the required affinity of the replacement, and the
// anti-affinity terms that Attempt.CountTerms has counted.
func PassesInterPodAffinity(r *cycle.Attempt, n int, anti ...[]cycle.TermWithTopology) bool {
	slot, found := len(r.Replacement.Spread.Hard), true
	for _, t := range r.Replacement.InterPod.Required {
		x := t.Topology.Domain[n]
		if x == model.NoDomain {
			return false
		}
		found = found && r.Scratch.CountsByDomain[slot][x] > 0
		slot++
	}
	// If a pod matches its own affinity and no other pod does, it may run anywhere.
	if !found && (!r.NoPodMatches || !r.Replacement.InterPod.MatchesSelf) {
		return false
	}
	for _, list := range anti {
		for _, t := range list {
			if x := t.Topology.Domain[n]; x != model.NoDomain && r.Scratch.CountsByDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}

// PassesTopologySpread is the filter PodTopologySpread. If single is false, it does not compare the pods of domains
// that are single nodes.
func PassesTopologySpread(r *cycle.Attempt, n int, single bool) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain || (single || !c.Topology.OneNodePerDomain) &&
			int64(r.Scratch.CountsByDomain[i][x])+c.SelfMatch-r.Scratch.MinSpreadCounts[i] > c.MaxSkew {
			return false
		}
	}
	return true
}

// Fits reports whether a pod with these requests fits on the node, next to `pods` pods that use
// `used`. Nil requests always fit: the filter NodeResourcesFit is then disabled.
func Fits(node *cluster.Node, requests, used *cluster.Resources, pods int64) bool {
	return requests == nil || missingResource(node, requests, used, pods) == ""
}

// CouldRun reports whether a replacement could run on a node next to `pods` pods that use `used`. It checks
// resources, readiness, selectors, taints, volumes and declared features, but neither ports, volume limits, topology
// spread nor inter-pod affinity.
func CouldRun(m *model.Cluster, in *cycle.Replacement, n cluster.NodeID, used *cluster.Resources, pods int64) bool {
	passes := func(byNode []bool) bool { return byNode == nil || byNode[n] }
	return in.CanRun[n] && in.Volumes.RefusedReason == "" && passes(in.Volumes.Bindable) && passes(in.Volumes.InZone) &&
		passes(in.FeaturesOK) && Fits(&m.Snap.Nodes[n], in.CheckedRequests, used, pods)
}

// missingResource returns the first resource for which a pod does not fit on the node; empty if the
// pod fits. Of several extended resources, it returns the first by name.
func missingResource(node *cluster.Node, requests, used *cluster.Resources, pods int64) string {
	r, a, missing := requests, &node.Allocatable, ""
	switch {
	case pods+1 > node.AllowedPods:
		return "pod capacity"
	case r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-used.MilliCPU:
		return "cpu"
	case r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-used.MemoryBytes:
		return "memory"
	case r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-used.EphemeralStorageByte:
		return "ephemeral-storage"
	}
	for name, amount := range requests.Extended {
		if amount > 0 && amount > a.Extended[name]-used.Extended[name] && (missing == "" || string(name) < missing) {
			missing = string(name)
		}
	}
	return missing
}

// RefusedWithNominatedPods checks a feasible node again, with the pods nominated to the node that have the same or a
// higher priority than the replacement. Pods of other schedulers are skipped, because a scheduler only knows its own
// nominated pods. The result is the filter that refuses the node; empty if the node passes. The check overwrites the
// counts of the attempt.
func RefusedWithNominatedPods(r *cycle.Attempt, n cluster.NodeID) scheduler.Filter {
	var list []cluster.PodID
	mine := scheduler.NameOf(r.Replacement.Class.Sample.Object)
	for _, p := range r.Model.Nominated[n] {
		c := r.Model.PodClass[p]
		if p != r.Victim && r.Model.PodNode[p] == cluster.NoNode && c.Priority >= r.Replacement.Class.Priority &&
			scheduler.NameOf(c.Sample.Object) == mine {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return ""
	}
	for _, p := range list {
		r.Model.AdjustPod(p, n, 1)
		adjustEmptySelectorCounts(r, p, n, 1)
	}
	again := cycle.NewAttempt(r.Model, r.Scratch, r.Replacement, r.Victim)
	again.Nominated, again.SkipInterPod, again.ClaimInUse = list, r.NoInterPodTerms, ""
	refused := RefusedBy(&again, int(n))
	for _, p := range list {
		r.Model.AdjustPod(p, n, -1)
		adjustEmptySelectorCounts(r, p, n, -1)
	}
	return refused
}

// adjustEmptySelectorCounts counts a nominated pod for constraints with an empty selector. A
// constraint with an empty selector counts no pods on nodes, but the scheduler adds the nominated
// pods.
func adjustEmptySelectorCounts(r *cycle.Attempt, p cluster.PodID, n cluster.NodeID, by int32) {
	if r.Model.PodClass[p].Namespace != r.Replacement.Class.Namespace {
		return
	}
	seen := map[*model.PodCounter]bool{}
	for _, c := range r.Replacement.Spread.Hard {
		if c.EmptySelector && !seen[c.Pods] {
			seen[c.Pods] = true
			c.Pods.Add(n, by)
		}
	}
}

// CanRunFunc returns a function that reports whether a replacement of the pod passes the filters
// that depend neither on other pods nor on free resources: readiness, cordon, node selector, node
// affinity, and NoSchedule and NoExecute taints. The function ignores the pod's nodeName, because a
// replacement has none.
func CanRunFunc(pod *corev1.Pod) func(*cluster.Node) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(n *cluster.Node) bool {
		return n.Ready && ToleratesTaints(pod, n.Object) && isSchedulable(pod, n.Object) && MatchesNodeAffinity(affinity, n.Object)
	}
}

var unschedulableTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// notReadyTaint is the only taint of a node that is not ready that the scheduler reads. The node controller sets it
// soon after the node stops being ready.
var notReadyTaint = corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}

// isSchedulable reports whether the node is not cordoned, or the pod tolerates the cordon.
func isSchedulable(pod *corev1.Pod, n *corev1.Node) bool {
	return !n.Spec.Unschedulable || ToleratesTaint(pod, &unschedulableTaint)
}

// ToleratesTaint reports whether the pod tolerates the taint.
func ToleratesTaint(pod *corev1.Pod, t *corev1.Taint) bool {
	return schedulinghelper.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, t, scheduler.ComparisonOperators)
}

// ToleratesTaints reports whether the pod tolerates the node's NoSchedule and NoExecute taints.
func ToleratesTaints(pod *corev1.Pod, n *corev1.Node) bool {
	refuses := func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}
	_, refused := schedulinghelper.FindMatchingUntoleratedTaint(
		logr.Discard(), n.Spec.Taints, pod.Spec.Tolerations, refuses, scheduler.ComparisonOperators)
	return !refused
}

// MatchesNodeAffinity reports whether the node matches the affinity. An invalid affinity matches no
// node.
func MatchesNodeAffinity(a nodeaffinity.RequiredNodeAffinity, n *corev1.Node) bool {
	ok, _ := a.Match(n)
	return ok
}

// RefusedBySpec returns the first filter that refuses the node to a pod spec because of the node's
// readiness, cordon, taints and labels; empty if the node passes. The caller has matched the pod's
// node affinity and tolerations.
func RefusedBySpec(m *model.Cluster, pod *corev1.Pod, p *scheduler.Compiled, n int, affinityOK, taintsOK bool) scheduler.Filter {
	switch node := &m.Snap.Nodes[n]; {
	case !node.Ready && !ToleratesTaint(pod, &notReadyTaint):
		return scheduler.NodeNotReady
	case !p.Disabled[scheduler.NodeUnschedulable] && !isSchedulable(pod, node.Object):
		return scheduler.NodeUnschedulable
	case !p.Disabled[scheduler.TaintToleration] && !taintsOK:
		return scheduler.TaintToleration
	case !p.Disabled[scheduler.NodeAffinity] && (!affinityOK || p.AddedRequired != nil && !p.AddedRequired.Match(m.NodeObject(n))):
		return scheduler.NodeAffinity
	}
	return ""
}
