// Package hints knows the hints that Evenkeel puts on nodes to steer the
// scheduler for a moment: which taint or label, which annotations say whose it
// is and until when, and how a node looks with and without them.
//
// It decides what stands on a node. It never talks to an API server (hints/writer
// does), never reads a clock, and never changes a taint or label that is not
// ours: one without our annotations is somebody else's.
package hints

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind says how a node is hinted.
type Kind string

const (
	None Kind = "none"
	// Taint is a PreferNoSchedule taint: up to 300 points less for every pod
	// that does not tolerate it.
	Taint Kind = "taint"
	// Label is a label, heard only by pods with node affinity against it, up to
	// 200 points as a pod's only preferred term.
	Label Kind = "label"
)

// What is written on a node. The annotations are book-keeping: the scheduler
// does not see them.
const (
	Key               = "evenkeel.io/steer"         // of the taint and of the label
	Value             = "avoid"                     // of the label; the taint has none
	RunAnnotation     = "evenkeel.io/steer-run"     // annotation: the pass that wrote it
	ExpiresAnnotation = "evenkeel.io/steer-expires" // annotation: RFC 3339; gone after it
	KindAnnotation    = "evenkeel.io/steer-kind"    // annotation: taint or label, whichever is ours
)

// IsOwnKey reports whether a key of a label or annotation is one that we write.
func IsOwnKey(key string) bool {
	return key == Key || key == RunAnnotation || key == ExpiresAnnotation || key == KindAnnotation
}

// Hint is a hint that stands on a node.
type Hint struct {
	Node string
	Kind Kind
	Run  string
	// Expires is zero when the annotation cannot be read; such a hint does not
	// expire by itself.
	Expires time.Time
}

// Expired reports whether the hint may be taken away by anyone.
func (h Hint) Expired(now time.Time) bool { return !h.Expires.IsZero() && now.After(h.Expires) }

// NewTaint is the taint that we write.
func NewTaint() corev1.Taint {
	return corev1.Taint{Key: Key, Effect: corev1.TaintEffectPreferNoSchedule}
}

func isHintTaint(t corev1.Taint) bool {
	return t.Key == Key && t.Effect == corev1.TaintEffectPreferNoSchedule
}

// HasTaint reports whether the node has the taint, whoever wrote it.
func HasTaint(n *corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, isHintTaint) }

// HasLabel reports whether the node has the label, whoever wrote it.
func HasLabel(n *corev1.Node) bool { return n.Labels[Key] == Value }

// Of returns the hint that we put on the node. A taint or label under our key
// without our annotations, or beside a hint of the other kind, is not ours. The
// kind is None when somebody else took the hint away and left the annotations.
func Of(n *corev1.Node) (Hint, bool) {
	expires, ours := n.Annotations[ExpiresAnnotation]
	if !ours {
		return Hint{}, false
	}
	h := Hint{Node: n.Name, Kind: None, Run: n.Annotations[RunAnnotation]}
	as, recorded := n.Annotations[KindAnnotation]
	switch {
	case HasTaint(n) && (!recorded || as == string(Taint)):
		h.Kind = Taint
	case HasLabel(n) && (!recorded || as == string(Label)):
		h.Kind = Label
	}
	if at, err := time.Parse(time.RFC3339, expires); err == nil {
		h.Expires = at
	}
	return h, true
}

// Put returns the node with the hint, and whether that is a change. Everything
// else on the node stays as it is. A taint or label under our key that somebody
// else wrote is left as it is, and not made ours: the hint is not put then.
func Put(n *corev1.Node, h Hint) (*corev1.Node, bool) {
	old, ours := Of(n)
	if ours && old.Kind == h.Kind && old.Run == h.Run && old.Expires.Equal(h.Expires.Truncate(time.Second)) {
		return n, false
	}
	out := withoutHint(n)
	if _, labelled := out.Labels[Key]; h.Kind == Taint && HasTaint(out) || h.Kind == Label && labelled {
		return Remove(n)
	}
	switch h.Kind {
	case Taint:
		out.Spec.Taints = append(out.Spec.Taints, NewTaint())
	case Label:
		out.Labels = setKey(out.Labels, Key, Value)
	}
	for key, value := range map[string]string{RunAnnotation: h.Run, ExpiresAnnotation: h.Expires.UTC().Format(time.RFC3339), KindAnnotation: string(h.Kind)} {
		out.Annotations = setKey(out.Annotations, key, value)
	}
	return out, true
}

// Remove returns the node without our hint, and whether that is a change.
func Remove(n *corev1.Node) (*corev1.Node, bool) {
	if _, ours := Of(n); !ours {
		return n, false
	}
	return withoutHint(n), true
}

// withoutHint is a copy that shares nothing that is changed.
func withoutHint(n *corev1.Node) *corev1.Node {
	out := n.DeepCopy()
	h, ours := Of(n)
	if !ours {
		return out
	}
	switch h.Kind {
	case Taint:
		out.Spec.Taints = slices.DeleteFunc(out.Spec.Taints, isHintTaint)
	case Label:
		delete(out.Labels, Key)
	}
	for _, key := range []string{RunAnnotation, ExpiresAnnotation, KindAnnotation} {
		delete(out.Annotations, key)
	}
	return out
}

func setKey(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// WithLabel returns a copy of the node that carries the label.
func WithLabel(n *corev1.Node) *corev1.Node {
	out := *n
	out.Labels = setKey(n.Labels, Key, Value)
	return &out
}
