package target

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
)

// when returns the words if the node is refused, and "" otherwise.
func when(refused bool, words string) string {
	if refused {
		return words
	}
	return ""
}

// A person or a program cordons a node before a drain or an upgrade, which would evict the pod again. The scheduler
// sends there only pods that tolerate the cordon, such as those that tolerate every taint.
var cordoned = Rule{Code: plan.OnlyCordonedNodes, Node: func(_ *Input, n *cluster.Node) string {
	return when(n.Object.Spec.Unschedulable, "cordoned")
}}

// A node that another program removes, drains, or marks as outgoing does not stay: the pod would be evicted again. The
// kind are all marks of the kinds removing, draining and outgoing, and a node with a deletion time.
var leaving = Rule{Code: plan.OnlyLeavingNodes, Node: func(in *Input, n *cluster.Node) string {
	f, found := in.Scope.Marks.First(n.Object, nodemarks.Removing, nodemarks.Draining, nodemarks.Outgoing)
	if !found {
		return ""
	}
	return f.Describe()
}}

// The kubelet refuses BestEffort pods under MemoryPressure, or evicts them first if they tolerate its taint.
var memoryPressure = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		if in.memoryPressure && cluster.QoSOf(p.Object) == corev1.PodQOSBestEffort {
			b = append(b, 1)
		}
		return b
	},
	Pod: func(_ *Input, _ *cluster.Pod, n *cluster.Node) string {
		return when(cluster.HasCondition(n.Object, corev1.NodeMemoryPressure),
			"under MemoryPressure, and the pod requests neither cpu nor memory")
	},
}

// No kubelet starts pods on a node that is not Ready, even pods that tolerate its taint.
var notReady = Rule{Code: plan.NoTargetFits, Node: func(_ *Input, n *cluster.Node) string {
	return when(!n.Ready, "not Ready")
}}

// A node with the pressure hint uses more than its rules allow. Pods leave it, so none are sent there.
var pressureHint = Rule{Code: plan.NodesUnderPressure, Node: func(in *Input, n *cluster.Node) string {
	return when(in.UnderPressure != nil && in.UnderPressure[n.ID], "under the pressure hint")
}}

// A virtual node is no machine. Its capacity says nothing about room for other pods.
var virtual = Rule{Code: plan.OnlyVirtualNodes, Node: func(in *Input, n *cluster.Node) string {
	kind := in.Scope.Virtual.Kind(n.Object)
	return when(kind != "", "virtual ("+kind+")")
}}

// The kubelet refuses all but critical pods under DiskPressure and PIDPressure. Node repair replaces a node that a
// problem detector marks bad, and pods that tolerate the taint of an agent that is not ready start without it. The kind
// are these two conditions and all marks of the kinds unhealthy and starting.
var unhealthy = Rule{Code: plan.OnlyUnhealthyNodes, Node: func(in *Input, n *cluster.Node) string {
	if cluster.HasCondition(n.Object, corev1.NodeDiskPressure) {
		return "under DiskPressure"
	}
	if cluster.HasCondition(n.Object, corev1.NodePIDPressure) {
		return "under PIDPressure"
	}
	if f, found := in.Scope.Marks.First(n.Object, nodemarks.Unhealthy, nodemarks.Starting); found {
		return f.Describe()
	}
	return ""
}}

// A volume that can be attached to one node only stays where another pod uses it: package volume says which ones. A
// replacement elsewhere would wait in ContainerCreating (FailedAttachVolume), and the workload would lose a replica.
// The kind are all pods that share such a volume, whatever their owners. All of them stay, because the plan would have
// to move them at once.
var volumeInUse = Rule{
	Code: plan.VolumeInUse,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		for use := range in.Volumes.Shared(p.Object) {
			b = append(append(b, use.ID...), 0)
		}
		return b
	},
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) string {
		for use := range in.Volumes.Shared(p.Object) {
			if use.Excludes(n.ID) {
				return use.Words
			}
		}
		return ""
	},
}

// The container runtime of a node starts only pods whose runtime handler it has. The kind are the handlers of all
// RuntimeClasses. If the snapshot has no RuntimeClass, or a node lists no handlers, the handler is unknown and passes.
var runtimeHandler = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte { return append(b, in.handler(p)...) },
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) string {
		want, have := in.handler(p), n.Object.Status.RuntimeHandlers
		if len(have) == 0 || slices.ContainsFunc(have, func(h corev1.NodeRuntimeHandler) bool { return h.Name == want }) {
			return ""
		}
		return fmt.Sprintf("without the runtime handler %s of RuntimeClass %s", want, *p.Object.Spec.RuntimeClassName)
	},
}

// handler returns the runtime handler that the pod names by its RuntimeClass, or "".
func (in *Input) handler(p *cluster.Pod) string {
	name := p.Object.Spec.RuntimeClassName
	if name == nil || in.Snapshot.Objects == nil {
		return ""
	}
	i := slices.IndexFunc(in.Snapshot.Objects.RuntimeClasses, func(c *nodev1.RuntimeClass) bool { return c.Name == *name })
	if i < 0 {
		return ""
	}
	return in.Snapshot.Objects.RuntimeClasses[i].Handler
}
