//go:build kube134

package real

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// The types of kube-scheduler 1.34.
type (
	podNominator = framework.PodNominator
	podInfo      = fwk.PodInfo
	nodeInfo     = fwk.NodeInfo
	cycleState   = fwk.CycleState
)

func podOf(p podInfo) *corev1.Pod { return p.GetPod() }
