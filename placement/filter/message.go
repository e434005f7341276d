package filter

import (
	"cmp"
	"fmt"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// messages are the sentences about filters of which more is not said. %s is the node.
var messages = map[scheduler.Filter]string{
	scheduler.NodeNotReady:         "%s is not ready",
	scheduler.NodeUnschedulable:    "%s is cordoned",
	scheduler.TaintToleration:      "%s has a taint that the pod does not tolerate",
	scheduler.NodeAffinity:         "%s does not match the pod's node selector or node affinity, or the scheduler's addedAffinity",
	scheduler.VolumeBinding:        "%s can neither reach nor provision a volume of the pod",
	scheduler.VolumeZone:           "%s is not in the zone of a volume of the pod",
	scheduler.PodTopologySpread:    "%s violates a topology spread constraint, or does not have its topology label",
	scheduler.InterPodAffinity:     "%s violates required pod affinity or anti-affinity",
	scheduler.NodeDeclaredFeatures: "%s does not declare a feature that the pod needs",
	scheduler.NominatedPods:        "the pod does not fit on %s together with the pods nominated to it",
}

// RefusalMessage returns a sentence that says why the filter refuses the node.
func RefusalMessage(r *cycle.Attempt, n int, f scheduler.Filter) string {
	node, in := r.Model.Snap.Nodes[n].Name, r.Replacement
	switch {
	case f == scheduler.NodePorts:
		return fmt.Sprintf("host port %d of %s is taken", r.Model.Ports.FirstTaken(in.Ports, n), node)
	case f == scheduler.NodeResourcesFit:
		used := &r.Model.Requests[n]
		missing := missingResource(&r.Model.Snap.Nodes[n], in.CheckedRequests, &used.Resources, used.Pods)
		return fmt.Sprintf("%s has not enough free %s", node, missing)
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
	}
	return fmt.Sprintf(cmp.Or(messages[f], "the filter "+string(f)+" refuses %s"), node)
}
