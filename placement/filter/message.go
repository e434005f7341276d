package filter

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Message says in words why a filter refuses the node.
func Message(r *cycle.Attempt, n int, f scheduler.Filter) string {
	node := r.Model.Snap.Nodes[n].Name
	switch f {
	case scheduler.NodeNotReady:
		return node + " is not ready"
	case scheduler.NodeUnschedulable:
		return node + " is cordoned"
	case scheduler.TaintToleration:
		return node + " has a taint that the pod does not tolerate"
	case scheduler.NodeAffinity:
		return node + " does not match the pod's node selector or node affinity, or the scheduler's addedAffinity"
	case scheduler.NodePorts:
		return fmt.Sprintf("host port %d of %s is taken", r.Model.Ports.Taken(r.Replacement.Ports, n), node)
	case scheduler.NodeResourcesFit:
		return fmt.Sprintf("%s has too little %s left", node, missingResource(r.Model, r.Replacement.CheckedRequests, n))
	case scheduler.PodTopologySpread:
		return node + " would break a topology spread constraint, or lacks its label"
	case scheduler.NodeDeclaredFeatures:
		return node + " does not declare a feature that the pod needs"
	case scheduler.NominatedPods:
		return "the pod does not fit on " + node + " beside the pods that are to come there"
	case scheduler.InterPodAffinity:
		return node + " does not agree with required pod affinity or anti-affinity"
	}
	return volumeMessage(r, n, f)
}

// volumeMessage is the same for the filters of volumes.
func volumeMessage(r *cycle.Attempt, n int, f scheduler.Filter) string {
	node, in := r.Model.Snap.Nodes[n].Name, r.Replacement
	switch {
	case f == scheduler.VolumeRestrictions && r.ClaimInUse != "":
		return fmt.Sprintf("claim %s is for one pod only, and another one has it", r.ClaimInUse)
	case f == scheduler.VolumeRestrictions:
		return "a pod on " + node + " has a disk that the pod needs for itself"
	case f == scheduler.NodeVolumeLimits:
		driver := r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n)
		if !r.Model.Storage.DriverInstalled(driver, n) && r.Model.Storage.ChecksDrivers() {
			return fmt.Sprintf("%s lacks the volume driver %s", node, driver)
		}
		return fmt.Sprintf("%s can attach no more volumes of %s", node, driver)
	case f == scheduler.VolumeBinding && in.Volumes.RefusedReason != "":
		return in.Volumes.RefusedReason
	case f == scheduler.VolumeZone:
		return node + " is in another zone than a volume of the pod"
	}
	return node + " cannot reach a volume of the pod, or have one made"
}
