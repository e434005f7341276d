package filter

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// RefusalMessage returns a sentence that says why the filter refuses the node.
func RefusalMessage(r *cycle.Attempt, n int, f scheduler.Filter) string {
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
		return fmt.Sprintf("host port %d of %s is taken", r.Model.Ports.FirstTaken(r.Replacement.Ports, n), node)
	case scheduler.NodeResourcesFit:
		used := &r.Model.Requests[n]
		missing := missingResource(&r.Model.Snap.Nodes[n], r.Replacement.CheckedRequests, &used.Resources, used.Pods)
		return fmt.Sprintf("%s has not enough free %s", node, missing)
	case scheduler.PodTopologySpread:
		return node + " violates a topology spread constraint, or does not have its topology label"
	case scheduler.NodeDeclaredFeatures:
		return node + " does not declare a feature that the pod needs"
	case scheduler.NominatedPods:
		return "the pod does not fit on " + node + " together with the pods nominated to it"
	case scheduler.InterPodAffinity:
		return node + " violates required pod affinity or anti-affinity"
	}
	return volumeMessage(r, n, f)
}

func volumeMessage(r *cycle.Attempt, n int, f scheduler.Filter) string {
	node, in := r.Model.Snap.Nodes[n].Name, r.Replacement
	switch {
	case f == scheduler.VolumeRestrictions && r.ClaimInUse != "":
		return fmt.Sprintf("claim %s has access mode ReadWriteOncePod, and another pod uses it", r.ClaimInUse)
	case f == scheduler.VolumeRestrictions:
		return "a pod on " + node + " uses a disk that the pod cannot share"
	case f == scheduler.NodeVolumeLimits:
		driver := r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n)
		if !r.Model.Storage.DriverInstalled(driver, n) && r.Model.Storage.ChecksDrivers() {
			return fmt.Sprintf("%s does not have the volume driver %s", node, driver)
		}
		return fmt.Sprintf("%s cannot attach another volume of driver %s", node, driver)
	case f == scheduler.VolumeBinding && in.Volumes.RefusedReason != "":
		return in.Volumes.RefusedReason
	case f == scheduler.VolumeZone:
		return node + " is not in the zone of a volume of the pod"
	}
	return node + " can neither reach nor provision a volume of the pod"
}
