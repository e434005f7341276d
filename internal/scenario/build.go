package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"
)

// item is an object that is still being built.
type item struct {
	kind
	object unstructured.Unstructured
	nodes  []string // the node of each pod, if the object is a workload
}

// builder builds objects from entries.
type builder struct{ items []*item }

// rounds lists kinds in the order in which build makes their objects. Controllers make ReplicaSets
// before pods. The empty string means all other kinds.
var rounds = []string{"", "ReplicaSet", "Pod"}

// build applies the entries of one round after another. An entry changes the objects that it names,
// or makes a new object. After each round, controllers make the objects of the next rounds.
func build(raw []map[string]any) ([]map[string]any, error) {
	b := &builder{}
	for _, round := range rounds {
		for _, r := range raw {
			if err := b.add(r, round); err != nil {
				return nil, fmt.Errorf("object %v %v: %w", r["kind"], r["metadata"], err)
			}
		}
		for _, i := range b.items {
			if roundOfKind(i.object.GetKind()) != round {
				continue
			}
			i.setDerivedFields()
			for _, made := range i.childEntries() {
				if err := b.add(made, roundOfKind(made["kind"].(string))); err != nil {
					return nil, err
				}
			}
		}
	}
	var objects []map[string]any
	for _, i := range b.items {
		if err := i.validate(); err != nil {
			return nil, fmt.Errorf("object %s: %w", objectKey(&i.object), err)
		}
		objects = append(objects, i.object.Object)
	}
	return objects, nil
}

func roundOfKind(kind string) string {
	if slices.Contains(rounds, kind) {
		return kind
	}
	return ""
}

// add applies an entry if its kind belongs to the round.
func (b *builder) add(raw map[string]any, round string) error {
	e, err := newEntry(raw)
	if err != nil || roundOfKind(e.patch.GetKind()) != round {
		return err
	}
	return b.apply(e)
}

// apply changes or deletes the objects that the entry names, or makes a new object. It returns an
// error if a deletion or a name with "*" matches no object.
func (b *builder) apply(e *entry) error {
	deletes := e.patch.Object["$patch"] == "delete"
	var found []*item
	for _, i := range b.items {
		if e.matches(&i.object) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		if deletes || strings.Contains(e.patch.GetName(), "*") {
			return errors.New("there is no such object")
		}
		made, err := newItem(e)
		if err != nil {
			return err
		}
		found = []*item{made}
		b.items = append(b.items, made)
	}
	if deletes {
		b.items = slices.DeleteFunc(b.items, func(i *item) bool { return slices.Contains(found, i) })
		return nil
	}
	for _, i := range found {
		if err := i.merge(e); err != nil {
			return err
		}
	}
	return nil
}

// newItem returns an object with the entry's name, the defaults of its kind and a UID.
func newItem(e *entry) (*item, error) {
	o := map[string]any{}
	defaults := strings.ReplaceAll(e.defaults, "NAME", e.patch.GetName())
	err := yaml.UnmarshalStrict([]byte(defaults), &o)
	if e.schema != nil {
		setDefault(objectAt(o, "metadata"), "uid", objectKey(&e.patch))
	}
	return &item{kind: e.kind, object: unstructured.Unstructured{Object: o}}, err
}

// merge applies the entry as a strategic merge patch, like kubectl patch. If the kind has no schema,
// merge replaces the fields of the entry.
func (i *item) merge(e *entry) error {
	if e.nodes != nil {
		i.nodes = e.nodes
	}
	if e.schema == nil {
		maps.Copy(i.object.Object, e.patch.Object)
		return nil
	}
	patch := e.patch.DeepCopy()
	if strings.Contains(objectKey(patch), "*") {
		patch.SetName(i.object.GetName())
		patch.SetNamespace(i.object.GetNamespace())
	}
	merged, err := strategicpatch.StrategicMergeMapPatch(i.object.Object, patch.Object, e.schema)
	i.object.Object = merged
	return err
}

// validate returns an error if the object has a field that its kind does not have.
func (i *item) validate() error {
	if i.schema == nil {
		return nil
	}
	text, err := json.Marshal(i.object.Object)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, reflect.New(reflect.TypeOf(i.schema).Elem()).Interface())
}
