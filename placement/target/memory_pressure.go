package target

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The kubelet refuses BestEffort pods under MemoryPressure, or evicts them first if they tolerate its taint.
var memoryPressure = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte {
		if in.memoryPressure && cluster.QoSOf(p.Object) == corev1.PodQOSBestEffort {
			b = append(b, 1)
		}
		return b
	},
	Pod: func(_ *Input, _ *cluster.Pod, n *cluster.Node) string {
		if !hasCondition(n, corev1.NodeMemoryPressure) {
			return ""
		}
		return "under MemoryPressure, and the pod requests neither cpu nor memory"
	},
}
