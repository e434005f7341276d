package scenario

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// defaultNamespace is the namespace of objects whose entry lacks a namespace.
const defaultNamespace = "shop"

// entry is one element of the field objects of a cluster.yaml or a base.
type entry struct {
	kind
	// patch holds the fields of a Kubernetes object. It has a kind and a name.
	patch unstructured.Unstructured
	// nodes lists the node of each pod of a workload. It is nil if the entry lacks the pods field.
	nodes []string
}

// newEntry returns a completed copy of a raw entry. It sets a missing apiVersion or namespace and
// completes owner references. It translates the shorthand fields pods and requests, which a Usage
// does not have.
func newEntry(raw map[string]any) (*entry, error) {
	e := &entry{patch: unstructured.Unstructured{Object: runtime.DeepCopyJSON(raw)}}
	var err error
	if e.kind, err = kindOf(e.patch.GetKind()); err != nil {
		return nil, err
	}
	o := e.patch.Object
	setDefault(o, "apiVersion", e.apiVersion)
	if e.namespaced {
		setDefault(objectAt(o, "metadata"), "namespace", defaultNamespace)
	}
	for _, ref := range objectsAt(o, "metadata", "ownerReferences") {
		completeOwner(ref, e.patch.GetNamespace())
	}
	if e.patch.GetKind() == "Usage" {
		for _, pod := range objectsAt(o, "pods") {
			setDefault(pod, "namespace", defaultNamespace)
			setDefault(pod, "uid", path.Join("Pod", fmt.Sprint(pod["namespace"]), fmt.Sprint(pod["name"])))
		}
		return e, nil
	}
	e.moveRequests()
	return e, e.parsePods()
}

// objectKey joins the kind, the namespace and the name of an object by slashes. The key is also the
// UID of the object.
func objectKey(o *unstructured.Unstructured) string {
	return path.Join(o.GetKind(), o.GetNamespace(), o.GetName())
}

func (e *entry) matches(o *unstructured.Unstructured) bool {
	match, err := path.Match(objectKey(&e.patch), objectKey(o))
	return err == nil && match
}

// parsePods moves the field pods into e.nodes. The field is a list such as
// [2 on n1, 1 on n2]. Any other form is an error.
func (e *entry) parsePods() error {
	pods, found, err := unstructured.NestedStringSlice(e.patch.Object, "pods")
	if err != nil || !found {
		return err
	}
	delete(e.patch.Object, "pods")
	e.nodes = []string{}
	for _, item := range pods {
		count, node, ok := strings.Cut(item, " on ")
		n, err := strconv.Atoi(count)
		if !ok || err != nil {
			return fmt.Errorf("pods: %q is not like \"2 on n1\"", item)
		}
		e.nodes = append(e.nodes, slices.Repeat([]string{node}, n)...)
	}
	return nil
}

// moveRequests moves the field requests into the container c of the pod or of the pod
// template.
func (e *entry) moveRequests() {
	requests, found := e.patch.Object["requests"]
	if !found {
		return
	}
	delete(e.patch.Object, "requests")
	spec := objectAt(e.patch.Object, "spec")
	if e.patch.GetKind() != "Pod" {
		spec = objectAt(spec, "template", "spec")
	}
	setDefault(spec, "containers", []any{map[string]any{"name": "c"}})
	for _, c := range objectsAt(spec, "containers") {
		if c["name"] == "c" {
			objectAt(c, "resources")["requests"] = requests
		}
	}
}

// completeOwner sets the missing fields of an owner reference. The owner is a controller
// unless the reference says otherwise.
func completeOwner(ref map[string]any, namespace string) {
	kind := fmt.Sprint(ref["kind"])
	if known, err := kindOf(kind); err == nil {
		setDefault(ref, "apiVersion", known.apiVersion)
	}
	setDefault(ref, "uid", path.Join(kind, namespace, fmt.Sprint(ref["name"])))
	setDefault(ref, "controller", true)
	setDefault(ref, "blockOwnerDeletion", true)
}

// objectAt returns the object at a path. It creates missing objects on the way.
func objectAt(o map[string]any, path ...string) map[string]any {
	for _, name := range path {
		next, ok := o[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[name] = next
		}
		o = next
	}
	return o
}

// objectsAt returns the objects in the list at a path. It skips elements that are not
// objects.
func objectsAt(o map[string]any, path ...string) []map[string]any {
	field, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	elements, _ := field.([]any)
	var objects []map[string]any
	for _, element := range elements {
		if x, ok := element.(map[string]any); ok {
			objects = append(objects, x)
		}
	}
	return objects
}

func setDefault(o map[string]any, field string, value any) {
	if _, set := o[field]; !set {
		o[field] = value
	}
}
