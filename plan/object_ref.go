package plan

import "strings"

// APIVersion is the version of every document that Evenkeel writes and reads.
const APIVersion = "evenkeel.io/v1alpha1"

// PodRef identifies one pod. The UID tells it from a new pod of the same name.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String returns namespace/name.
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// ObjectRef identifies any other object, such as an owner or the subject of a goal.
// Namespace is empty for cluster-scoped objects, and for the owner of a move, which is in
// the namespace of the pod.
type ObjectRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// String returns Kind/namespace/name, or Kind/name without a namespace.
func (r ObjectRef) String() string {
	parts := []string{r.Kind, r.Name}
	if r.Namespace != "" {
		parts = []string{r.Kind, r.Namespace, r.Name}
	}
	return strings.Join(parts, "/")
}
