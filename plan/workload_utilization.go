package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// WorkloadUtilization say how busy the pods of a workload are, as far as that is measured. They go
// by cpu: the survivors of a zone take over the work of those that are lost, and cpu
// follows the work. Memory mostly does not.
type WorkloadUtilization struct {
	snapshot *cluster.Snapshot
	amounts  *cluster.Amounts // nil: nothing is measured
	limit    float64
}

// NewWorkloadUtilization goes by the usage of a snapshot. In scope, Load says when it is believed,
// and UtilizationLimit how busy pods may be.
func NewWorkloadUtilization(s *cluster.Snapshot, scope cluster.Scope) WorkloadUtilization {
	b := WorkloadUtilization{snapshot: s, limit: scope.UtilizationLimit}
	if slices.Contains(s.Usage.Resources(), cpu) {
		b.amounts = s.Amounts(cluster.Measure{ByUsage: true, Resource: cpu}, scope.Usage)
	}
	return b
}

const cpu = string(corev1.ResourceCPU)

// Category is the failure category of these pods when so many of them are lost. Where it
// goes by usage it is certain if that of each of them is measured; else it is 3.
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

// utilization is what the pods use in all, as a fraction of all that they may.
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

// cpuCapacity is the cpu that a pod may use: its limit; where a container has none, what
// the pod requests, which is all that it is sure to get. 0: nothing is said.
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
