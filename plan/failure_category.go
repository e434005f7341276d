package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// FailureCategory returns the effect of losing `lost` of `total` pods: 1 if all pods are lost, 2 if more than half are
// lost, 3 if the remaining pods exceed the utilization limit, and 4 otherwise. Without usage data the function cannot
// distinguish 3 from 4. It then returns 3 and certain = false. See docs/reference/impact.md.
func FailureCategory(total, lost int) (category int, certain bool) {
	switch {
	case lost == total:
		return 1, true
	case 2*lost > total:
		return 2, true
	}
	return 3, false
}

// FailureCategoryAtUtilization is FailureCategory with a known utilization of the pods. The remaining pods take over
// the work of the lost pods. For example, if 2 of 6 pods are lost, a utilization of 0.8 rises to 1.2.
func FailureCategoryAtUtilization(total, lost int, utilization, limit float64) int {
	category, certain := FailureCategory(total, lost)
	if !certain && Round(utilization*float64(total)/float64(total-lost)) <= limit {
		return 4
	}
	return category
}

// WorkloadUtilization computes the measured CPU utilization of the pods of a workload. When pods are lost, the
// remaining pods take over their work. CPU usage grows with the work; memory usage mostly does not.
type WorkloadUtilization struct {
	snapshot *cluster.Snapshot
	amounts  *cluster.Amounts // nil without measured usage
	limit    float64
}

// NewWorkloadUtilization uses the usage in a snapshot. scope.Usage defines which usage is fresh enough, and
// scope.UtilizationLimit is the highest acceptable utilization.
func NewWorkloadUtilization(s *cluster.Snapshot, scope cluster.Scope) WorkloadUtilization {
	b := WorkloadUtilization{snapshot: s, limit: scope.UtilizationLimit}
	if slices.Contains(s.Usage.Resources(), cpu) {
		b.amounts = s.Amounts(cluster.Measure{ByUsage: true, Resource: cpu}, scope.Usage)
	}
	return b
}

const cpu = string(corev1.ResourceCPU)

// Category returns the failure category of these pods if `lost` of them are lost. If the category depends on usage and
// the usage of a pod is unknown, it returns 3 and certain = false.
func (b WorkloadUtilization) Category(pods []cluster.PodID, lost int) (category int, certain bool) {
	if category, certain = FailureCategory(len(pods), lost); certain {
		return category, true
	}
	utilization, known := b.Utilization(pods)
	if !known {
		return 3, false
	}
	return FailureCategoryAtUtilization(len(pods), lost, utilization, b.limit), true
}

// Utilization returns the total usage of the pods as a fraction of their total capacity.
func (b WorkloadUtilization) Utilization(pods []cluster.PodID) (frac float64, known bool) {
	if b.amounts == nil {
		return 0, false
	}
	var used, capacity int64
	for _, id := range pods {
		p := &b.snapshot.Pods[id]
		if p.Node == cluster.NoNode || b.amounts.PodQuality(id) != cluster.Measured {
			return 0, false
		}
		milli := cpuCapacity(p)
		if _, _, fresh := b.amounts.NodeUsed(p.Node); !fresh || milli == 0 {
			return 0, false
		}
		used, capacity = used+b.amounts.Contribution(id, p.Node), capacity+milli
	}
	return float64(used) / float64(max(1, capacity)), capacity > 0
}

// cpuCapacity returns the CPU in milli that a pod may use: its limit, or its request if a container has no limit. It
// returns 0 for a pod without limit and request.
func cpuCapacity(p *cluster.Pod) (milli int64) {
	spec := &p.Object.Spec
	if spec.Resources != nil {
		if limit, ok := spec.Resources.Limits[corev1.ResourceCPU]; ok {
			return cluster.MilliCPU(&limit)
		}
	}
	for i := range spec.Containers {
		limit, ok := spec.Containers[i].Resources.Limits[corev1.ResourceCPU]
		if !ok {
			return p.Requests.Get(cpu)
		}
		milli += cluster.MilliCPU(&limit)
	}
	return milli
}
