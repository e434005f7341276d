package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// WorkloadUtilization computes the measured CPU utilization of the pods of a workload. It
// uses CPU because the surviving pods take over the work of the lost ones, and CPU usage
// follows the work. Memory usage mostly does not.
type WorkloadUtilization struct {
	snapshot *cluster.Snapshot
	amounts  *cluster.Amounts // nil: nothing is measured
	limit    float64
}

// NewWorkloadUtilization uses the usage in a snapshot. In scope, Load says which usage is
// fresh enough, and UtilizationLimit is the highest acceptable utilization.
func NewWorkloadUtilization(s *cluster.Snapshot, scope cluster.Scope) WorkloadUtilization {
	b := WorkloadUtilization{snapshot: s, limit: scope.UtilizationLimit}
	if slices.Contains(s.Usage.Resources(), cpu) {
		b.amounts = s.Amounts(cluster.Measure{ByUsage: true, Resource: cpu}, scope.Usage)
	}
	return b
}

const cpu = string(corev1.ResourceCPU)

// Category returns the failure category of these pods if that many are lost. If the
// category depends on usage, it is certain only if all of them are measured; otherwise it
// is 3.
func (b WorkloadUtilization) Category(pods []cluster.PodID, lost int) (category int, certain bool) {
	if category, certain = FailureCategory(len(pods), lost); certain {
		return category, true
	}
	busy, known := b.utilization(pods)
	if !known {
		return 3, false
	}
	return FailureCategoryAtUtilization(len(pods), lost, busy, b.limit), true
}

// utilization returns the total usage of the pods as a fraction of their total capacity.
func (b WorkloadUtilization) utilization(pods []cluster.PodID) (frac float64, known bool) {
	if b.amounts == nil {
		return 0, false
	}
	var used, may int64
	for _, id := range pods {
		p := &b.snapshot.Pods[id]
		if p.Node == cluster.NoNode || b.amounts.PodQuality(id) != cluster.Measured {
			return 0, false
		}
		has := cpuCapacity(p)
		if _, _, fresh := b.amounts.NodeUsed(p.Node); !fresh || has == 0 {
			return 0, false
		}
		used, may = used+b.amounts.Contribution(id, p.Node), may+has
	}
	return float64(used) / float64(max(1, may)), may > 0
}

// cpuCapacity returns the CPU in milli that a pod may use: its limit, or its request if a
// container has no limit. 0 means that the pod has neither.
func cpuCapacity(p *cluster.Pod) (milli int64) {
	spec := &p.Object.Spec
	if spec.Resources != nil {
		if of, limited := spec.Resources.Limits[corev1.ResourceCPU]; limited {
			return of.MilliValue()
		}
	}
	for i := range spec.Containers {
		of, limited := spec.Containers[i].Resources.Limits[corev1.ResourceCPU]
		if !limited {
			return p.Requests.Get(cpu)
		}
		milli += of.MilliValue()
	}
	return milli
}
