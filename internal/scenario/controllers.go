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
		capacity := maps.Clone(child(o, "status", "allocatable"))
		maps.Copy(capacity, child(o, "status", "capacity"))
		child(o, "status")["capacity"] = capacity
	case "Deployment", "ReplicaSet", "StatefulSet":
		setDefault(child(o, "spec"), "replicas", int64(len(i.nodes)))
	}
}

// children returns entries for the objects that a controller makes for the item. These
// are the ReplicaSet of a Deployment, or the pods of another workload.
func (i *item) children() []map[string]any {
	var made []map[string]any
	switch {
	case i.nodes == nil:
	case i.object.GetKind() == "Deployment":
		made = append(made, i.replicaSet())
	default:
		for n, node := range i.nodes {
			made = append(made, i.pod(n, node))
		}
	}
	return made
}

// replicaSet returns the entry of a Deployment's ReplicaSet.
func (i *item) replicaSet() map[string]any {
	spec := runtime.DeepCopyJSON(child(i.object.Object, "spec"))
	spec = map[string]any{"replicas": spec["replicas"], "selector": spec["selector"], "template": spec["template"], "$patch": "replace"}
	labels := child(spec, "template", "metadata", "labels")
	labels["pod-template-hash"] = podTemplateHash
	child(spec, "selector", "matchLabels")["pod-template-hash"] = podTemplateHash
	rs := i.owned("ReplicaSet", i.object.GetName()+"-"+podTemplateHash)
	child(rs, "metadata")["labels"] = runtime.DeepCopyJSON(labels)
	child(rs, "metadata", "labels")["$patch"] = "replace"
	rs["spec"] = spec
	var pods []any
	for _, node := range i.nodes {
		pods = append(pods, "1 on "+node)
	}
	rs["pods"] = pods
	return rs
}

// pod returns the entry of a workload's pod with this number, on the node.
func (i *item) pod(number int, node string) map[string]any {
	name := fmt.Sprintf("%s-%d", i.object.GetName(), number)
	if i.object.GetKind() == "ReplicaSet" && len(i.object.GetOwnerReferences()) > 0 {
		name = fmt.Sprintf("%s-%02d", i.object.GetName(), number)
	}
	template := runtime.DeepCopyJSON(child(i.object.Object, "spec", "template"))
	p := i.owned("Pod", name)
	meta := child(p, "metadata")
	maps.Copy(meta, child(template, "metadata"))
	setDefault(meta, "labels", map[string]any{"app": i.object.GetName()})
	p["spec"] = child(template, "spec")
	child(p, "spec")["nodeName"] = node
	return p
}

// owned returns an entry for an object that the item controls.
func (i *item) owned(kind, name string) map[string]any {
	owner := map[string]any{"kind": i.object.GetKind(), "name": i.object.GetName()}
	return map[string]any{"kind": kind, "metadata": map[string]any{
		"namespace": i.object.GetNamespace(), "name": name, "ownerReferences": []any{owner},
	}}
}
