package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

func OwnerRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	w := s.WorkloadOf(p)
	if w == nil {
		return plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Name: p.Object.Name, UID: string(p.Object.UID)}
	}
	return plan.ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID}
}

// workloadRef names a pod's workload as it is remembered.
func workloadRef(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	return history.WorkloadOf(plan.Move{Pod: PodRef(p), Owner: OwnerRef(s, p)})
}

func PodRef(p *cluster.Pod) plan.PodRef {
	return plan.PodRef{Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)}
}
