// Package nodemarks recognizes the marks that Kubernetes and other programs put on nodes: taints, labels, annotations
// and conditions. It says what each mark means and who sets it. It never decides what follows from a mark.
package nodemarks

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Kind says what a mark means.
type Kind string

const (
	// State describes the state of a node, which may pass. Other fields of the node decide what follows.
	State Kind = "state"
	// Starting says that a node is not ready for pods yet, or again: an agent on it has not reported.
	Starting Kind = "starting"
	// Outgoing says that a node will be replaced or removed, but is not drained yet.
	Outgoing Kind = "outgoing"
	// Draining says that a program evicts the pods of a node, or is about to.
	Draining Kind = "draining"
	// Removing says that a program removes a node.
	Removing Kind = "removing"
	// Unhealthy says that a node has a problem, or that its machine has scheduled maintenance.
	Unhealthy Kind = "unhealthy"
)

// Place is the part of a node that has the mark.
type Place string

const (
	Taint      Place = "taint"
	Label      Place = "label"
	Annotation Place = "annotation"
	Condition  Place = "condition"
)

// Mark is one mark with its meaning.
type Mark struct {
	Kind  Kind
	Place Place
	// Key is the key of a taint, label or annotation, or the type of a condition. One * at its beginning or its end
	// stands for any text.
	Key string
	// Value is the value, or the status of a condition. Empty stands for every value, and a * at its end for any text.
	// Taints match with every effect.
	Value string
	// By is the program that sets the mark.
	By string
}

// Found is a mark on a node.
type Found struct {
	*Mark
	// Name is the mark on the node, such as "taint karpenter.sh/unregistered" or "condition StorageReady is False".
	Name string
}

// Describe says what the mark means for its node, such as "being drained by kured".
func (f Found) Describe() string {
	switch f.Kind {
	case Removing:
		return "being removed by " + f.By
	case Draining:
		return "being drained by " + f.By
	case Outgoing:
		return "to be replaced or removed: " + f.Name + " of " + f.By
	case Starting:
		return "not ready for pods: " + f.Name + " of " + f.By
	}
	return "marked bad: " + f.Name + " of " + f.By
}

// Table recognizes the marks of Defaults and those that an operator adds. The zero value has the defaults.
type Table struct {
	Extra []Mark
}

// On returns the marks of a node, without those of kind State: first a delete request, then taints, labels, annotations
// and conditions.
func (t Table) On(n *corev1.Node) (out []Found) {
	if n.DeletionTimestamp != nil {
		out = append(out, Found{&deleteRequest, "a delete request"})
	}
	for i := range n.Spec.Taints {
		if m := t.OfTaint(&n.Spec.Taints[i]); m != nil && m.Kind != State {
			out = append(out, Found{m, "taint " + n.Spec.Taints[i].Key})
		}
	}
	for _, list := range [...][]Mark{inMetadata, t.Extra} {
		for i := range list {
			m := &list[i]
			values := n.Labels
			if m.Place == Annotation {
				values = n.Annotations
			}
			if value, has := values[m.Key]; has && (m.Place == Label || m.Place == Annotation) && m.hasValue(value) {
				out = append(out, Found{m, string(m.Place) + " " + m.Key})
			}
		}
	}
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		if m := t.find(Condition, string(c.Type), string(c.Status)); m != nil {
			out = append(out, Found{m, "condition " + string(c.Type) + " is " + string(c.Status)})
		}
	}
	return out
}

// OfTaint returns the mark that a taint is, or nil.
func (t Table) OfTaint(taint *corev1.Taint) *Mark { return t.find(Taint, taint.Key, taint.Value) }

// First returns the first mark of a node that has one of the kinds. The first kind that a mark has decides.
func (t Table) First(n *corev1.Node, kinds ...Kind) (Found, bool) {
	marks := t.On(n)
	for _, kind := range kinds {
		for _, f := range marks {
			if f.Kind == kind {
				return f, true
			}
		}
	}
	return Found{}, false
}

// Parse reads a mark that an operator adds, in the form PLACE:KEY or PLACE:KEY=VALUE. The place is taint, label or
// condition. A condition needs a value, its status.
func Parse(kind Kind, text string) (Mark, error) {
	place, rest, found := strings.Cut(text, ":")
	key, value, hasValue := strings.Cut(rest, "=")
	m := Mark{kind, Place(place), key, value, "placement.nodeMarks"}
	switch {
	case !found || key == "" || m.Place != Taint && m.Place != Label && m.Place != Condition:
		return m, fmt.Errorf("%q is not a mark of nodes (want taint:KEY, taint:KEY=VALUE, label:KEY=VALUE or condition:TYPE=STATUS)", text)
	case m.Place == Condition && value != "True" && value != "False" && value != "Unknown":
		return m, fmt.Errorf("%q names no status of the condition (want condition:%s=True, False or Unknown)", text, key)
	case m.Place == Label && strings.Contains(key, "*"):
		return m, fmt.Errorf("%q: the key of a label has no * (name each key)", text)
	case hasValue && value == "":
		return m, fmt.Errorf("%q has no value after the = (leave out the = for every value)", text)
	}
	return m, nil
}

// find returns the mark in a place with a key and a value, or nil. Marks that an operator adds come first.
func (t Table) find(place Place, key, value string) *Mark {
	for i := range t.Extra {
		if m := &t.Extra[i]; m.Place == place && matches(m.Key, key) && m.hasValue(value) {
			return m
		}
	}
	if m := byKey[placeKey{place, key}]; m != nil {
		if m.hasValue(value) {
			return m
		}
		return nil
	}
	for _, m := range patterns {
		if m.Place == place && matches(m.Key, key) {
			return m
		}
	}
	return nil
}

func (m *Mark) hasValue(value string) bool { return m.Value == "" || matches(m.Value, value) }

// matches reports whether a text equals a pattern, which may have one * at its beginning or its end.
func matches(pattern, text string) bool {
	if end, found := strings.CutPrefix(pattern, "*"); found {
		return strings.HasSuffix(text, end)
	}
	if start, found := strings.CutSuffix(pattern, "*"); found {
		return strings.HasPrefix(text, start)
	}
	return pattern == text
}

type placeKey struct {
	place Place
	key   string
}

var (
	byKey      = map[placeKey]*Mark{}
	patterns   []*Mark
	inMetadata []Mark // the labels and annotations of Defaults
)

func init() {
	for i := range Defaults {
		m := &Defaults[i]
		switch {
		case strings.Contains(m.Key, "*"):
			patterns = append(patterns, m)
		default:
			byKey[placeKey{m.Place, m.Key}] = m
		}
		if m.Place == Label || m.Place == Annotation {
			inMetadata = append(inMetadata, *m)
		}
	}
}
