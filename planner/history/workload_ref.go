package history

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// WorkloadRef names a pod's workload as it is remembered.
func WorkloadRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	return WorkloadOf(plan.Move{Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(s, p)})
}
