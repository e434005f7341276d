package scenario

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
)

// podTemplateHash is the pod-template-hash of every ReplicaSet that a Deployment makes.
const podTemplateHash = "6c8f"

// setDerivedFields fills in fields that depend on other fields: the capacity of a node and
// the replicas of a workload.
func (i *item) setDerivedFields() {
	o := i.object.Object
	switch i.object.GetKind() {
	case "Node":
		capacity := maps.Clone(objectAt(o, "status", "allocatable"))
		maps.Copy(capacity, objectAt(o, "status", "capacity"))
		objectAt(o, "status")["capacity"] = capacity
	case "Deployment", "ReplicaSet", "StatefulSet":
		setDefault(objectAt(o, "spec"), "replicas", int64(len(i.nodes)))
	}
}

// childEntries returns the entries of the objects that a controller makes for a workload: the
// ReplicaSet of a Deployment, or the pods of another workload.
func (i *item) childEntries() []map[string]any {
	var made []map[string]any
	switch {
	case i.nodes == nil:
	case i.object.GetKind() == "Deployment":
		made = append(made, i.replicaSetEntry())
	default:
		for n, node := range i.nodes {
			made = append(made, i.podEntry(n, node))
		}
	}
	return made
}

// replicaSetEntry returns the entry of a Deployment's ReplicaSet.
func (i *item) replicaSetEntry() map[string]any {
	spec := runtime.DeepCopyJSON(objectAt(i.object.Object, "spec"))
	spec = map[string]any{"replicas": spec["replicas"], "selector": spec["selector"], "template": spec["template"], "$patch": "replace"}
	labels := objectAt(spec, "template", "metadata", "labels")
	labels["pod-template-hash"] = podTemplateHash
	objectAt(spec, "selector", "matchLabels")["pod-template-hash"] = podTemplateHash
	rs := i.ownedEntry("ReplicaSet", i.object.GetName()+"-"+podTemplateHash)
	objectAt(rs, "metadata")["labels"] = runtime.DeepCopyJSON(labels)
	objectAt(rs, "metadata", "labels")["$patch"] = "replace"
	rs["spec"] = spec
	var pods []any
	for _, node := range i.nodes {
		pods = append(pods, "1 on "+node)
	}
	rs["pods"] = pods
	return rs
}

// podEntry returns the entry of a workload's pod with this number, on the node.
func (i *item) podEntry(number int, node string) map[string]any {
	name := fmt.Sprintf("%s-%d", i.object.GetName(), number)
	if i.object.GetKind() == "ReplicaSet" && len(i.object.GetOwnerReferences()) > 0 {
		name = fmt.Sprintf("%s-%02d", i.object.GetName(), number)
	}
	template := runtime.DeepCopyJSON(objectAt(i.object.Object, "spec", "template"))
	p := i.ownedEntry("Pod", name)
	meta := objectAt(p, "metadata")
	maps.Copy(meta, objectAt(template, "metadata"))
	setDefault(meta, "labels", map[string]any{"app": i.object.GetName()})
	p["spec"] = objectAt(template, "spec")
	objectAt(p, "spec")["nodeName"] = node
	return p
}

// ownedEntry returns an entry for an object that the item controls.
func (i *item) ownedEntry(kind, name string) map[string]any {
	owner := map[string]any{"kind": i.object.GetKind(), "name": i.object.GetName()}
	return map[string]any{"kind": kind, "metadata": map[string]any{
		"namespace": i.object.GetNamespace(), "name": name, "ownerReferences": []any{owner},
	}}
}
