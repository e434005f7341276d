// Package annotation reads the requests that users write in annotations and labels on pods, their
// owners, their namespaces, and nodes.
//
// The package defines what a value means and which of several requests is the strictest. An
// unreadable value or an unknown evenkeel.io key is a Problem. A pod stays protected by a
// protection request that cannot be read. Whether a pod moves is decided elsewhere: by the guards,
// the planner and the strategies.
package annotation

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Source names the object that carries a request, and the request's key and value.
type Source struct {
	Object string // such as "Deployment shop/d", or "the pod"
	Key    string
	Value  string
}

// String returns the key, the value as it was written, and the object.
func (s Source) String() string { return fmt.Sprintf("%s: %q on %s", s.Key, s.Value, s.Object) }

// truncated returns the source with its value shortened for messages.
func (s Source) truncated() Source {
	s.Value = truncate(s.Value)
	return s
}

// maxValueLength limits, in characters, how much of a value a message repeats. Annotations may
// be 256 KiB long.
const maxValueLength = 60

func truncate(v string) string {
	if r := []rune(v); len(r) > maxValueLength {
		return string(r[:maxValueLength]) + "..."
	}
	return v
}

// object is an API object that can carry requests.
type object struct {
	name string
	meta metav1.Object
}

// requestValues returns the values of a key: the value of the annotation, and the value of the label if
// the two differ.
func (o object) requestValues(key string) []Source {
	var out []Source
	v, annotated := o.meta.GetAnnotations()[key]
	if annotated {
		out = append(out, Source{o.name, key, v})
	}
	if l, ok := o.meta.GetLabels()[key]; ok && !(annotated && l == v) {
		out = append(out, Source{o.name, key, l})
	}
	return out
}

// requestObjects returns the objects whose requests apply to a pod: the pod, its owners, and
// its namespace.
func requestObjects(s *cluster.Snapshot, p *cluster.Pod) []object {
	out := append(make([]object, 0, 4), object{"the pod", p.Object})
	for i, o := range p.Owners {
		if !isReplicaSetOfDeployment(p.Owners[i:]) {
			out = append(out, object{ownerName(o), o})
		}
	}
	if ns := s.Namespace(p.Object.Namespace); ns != nil {
		out = append(out, object{"namespace " + ns.Name, ns})
	}
	return out
}

// ownerName returns kind, namespace and name of an owner. The kind is the name of the Go type,
// because informers drop the kind from the object.
func ownerName(o metav1.Object) string {
	return fmt.Sprintf("%s %s/%s", reflect.TypeOf(o).Elem().Name(), o.GetNamespace(), o.GetName())
}

// isReplicaSetOfDeployment reports whether the first owner is a ReplicaSet and the second a
// Deployment. The deployment controller copies annotations to the ReplicaSet but never removes
// them there, so the ReplicaSet may still carry requests that the user has withdrawn.
func isReplicaSetOfDeployment(owners []metav1.Object) bool {
	if len(owners) < 2 {
		return false
	}
	_, isReplicaSet := owners[0].(*appsv1.ReplicaSet)
	_, isDeployment := owners[1].(*appsv1.Deployment)
	return isReplicaSet && isDeployment
}
