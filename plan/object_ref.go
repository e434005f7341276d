package plan

import "strings"

// APIVersion is the version of every document that Evenkeel writes and reads.
const APIVersion = "evenkeel.io/v1alpha1"

// PodRef names one pod instance. UID tells a pod from its re-created namesake.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String returns namespace/name.
func (r PodRef) String() string { return r.Namespace + "/" + r.Name }

// ObjectRef names any other object: an owner, or what a goal is about.
// Namespace is empty for cluster-scoped objects and, in a move's owner, where
// it is always the pod's.
type ObjectRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// String returns Kind/namespace/name, without the namespace where there is none.
func (r ObjectRef) String() string {
	parts := []string{r.Kind, r.Name}
	if r.Namespace != "" {
		parts = []string{r.Kind, r.Namespace, r.Name}
	}
	return strings.Join(parts, "/")
}
