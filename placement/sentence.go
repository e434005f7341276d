package placement

import "fmt"

// Message says in words why a filter refuses the node.
func Message(r *Attempt, n int, f Filter) string {
	node := r.Model.Snap.Nodes[n].Name
	switch f {
	case NodeNotReady:
		return node + " is not ready"
	case NodeUnschedulable:
		return node + " is cordoned"
	case TaintToleration:
		return node + " has a taint that the pod does not tolerate"
	case NodeAffinity:
		return node + " does not match the pod's node selector or node affinity, or the scheduler's addedAffinity"
	case NodePorts:
		return fmt.Sprintf("host port %d of %s is taken", r.Model.Ports.taken(r.Replacement.ports, n), node)
	case NodeResourcesFit:
		return fmt.Sprintf("%s has too little %s left", node, missingResource(r.Model, r.Replacement.Checked, n))
	case PodTopologySpread:
		return node + " would break a topology spread constraint, or lacks its label"
	case NodeDeclaredFeatures:
		return node + " does not declare a feature that the pod needs"
	case NominatedPods:
		return "the pod does not fit on " + node + " beside the pods that are to come there"
	case InterPodAffinity:
		return node + " does not agree with required pod affinity or anti-affinity"
	}
	return volumeMessage(r, n, f)
}

// volumeMessage is the same for the filters of volumes.
func volumeMessage(r *Attempt, n int, f Filter) string {
	node, in := r.Model.Snap.Nodes[n].Name, r.Replacement
	switch {
	case f == VolumeRestrictions && r.ClaimInUse != "":
		return fmt.Sprintf("claim %s is for one pod only, and another one has it", r.ClaimInUse)
	case f == VolumeRestrictions:
		return "a pod on " + node + " has a disk that the pod needs for itself"
	case f == NodeVolumeLimits:
		driver := r.Model.Attachments.BlockingDriver(in.Volumes.Attach, n)
		if !r.Model.Storage.DriverInstalled(driver, n) && r.Model.Storage.ChecksDrivers() {
			return fmt.Sprintf("%s lacks the volume driver %s", node, driver)
		}
		return fmt.Sprintf("%s can attach no more volumes of %s", node, driver)
	case f == VolumeBinding && in.Volumes.Refused != "":
		return in.Volumes.Refused
	case f == VolumeZone:
		return node + " is in another zone than a volume of the pod"
	}
	return node + " cannot reach a volume of the pod, or have one made"
}
