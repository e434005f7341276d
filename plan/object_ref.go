package plan

import (
	"cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// APIVersion is the version of every document that Evenkeel writes and reads.
const APIVersion = "evenkeel.io/v1alpha1"

// Compare orders objects by namespace, apiVersion, kind and name. It ignores UIDs.
func (r ObjectRef) Compare(o ObjectRef) int {
	return cmp.Or(cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.APIVersion, o.APIVersion), cmp.Compare(r.Kind, o.Kind),
		cmp.Compare(r.Name, o.Name))
}

// PodRef identifies one pod. The UID distinguishes the pod from a later pod of the same name.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String returns namespace/name.
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// ObjectRef identifies any other object, such as an owner or the subject of a goal. Namespace is empty for
// cluster-scoped objects, and for the owner of a move, because the owner is in the namespace of the pod.
type ObjectRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// String returns Kind/namespace/name, or Kind/name without a namespace.
func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

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
