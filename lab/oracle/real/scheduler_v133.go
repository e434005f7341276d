//go:build kube133

package real

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The types of kube-scheduler 1.33.
type (
	podNominator = framework.PodNominator
	podInfo      = *framework.PodInfo
	nodeInfo     = *framework.NodeInfo
	cycleState   = *framework.CycleState
)

func podOf(p podInfo) *corev1.Pod { return p.Pod }
