package eligibility

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// EvictionCost returns the disruption that the eviction of a pod causes. An ordinary pod costs 1. Priority adds up
// to 1, in proportion to 1e9, the highest user priority. The annotation controller.kubernetes.io/pod-deletion-cost
// adds or subtracts up to 0.5. A pod that is not Ready costs half.
func EvictionCost(p *cluster.Pod) float64 {
	c := 1.0
	if pr := p.Object.Spec.Priority; pr != nil {
		c += min(1, max(0, float64(*pr)/1e9))
	}
	if n, err := strconv.ParseInt(p.Object.Annotations[corev1.PodDeletionCost], 10, 32); err == nil {
		c += float64(n) / (1 << 32)
	}
	if !p.Ready {
		c /= 2
	}
	return plan.Round(c)
}
