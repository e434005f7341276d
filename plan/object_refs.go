package plan

import "github.com/evenkeel-project/evenkeel/cluster"

// OwnerRefOf returns a reference to the workload of a pod. For a pod without a workload it
// returns a reference to the pod itself.
func OwnerRefOf(s *cluster.Snapshot, p *cluster.Pod) ObjectRef {
	w := s.WorkloadOf(p)
	if w == nil {
		return ObjectRef{APIVersion: "v1", Kind: "Pod", Name: p.Object.Name, UID: string(p.Object.UID)}
	}
	return ObjectRef{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name, UID: w.UID}
}

// PodRefOf returns a reference to a pod.
func PodRefOf(p *cluster.Pod) PodRef {
	return PodRef{Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)}
}
