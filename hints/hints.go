// Package hints defines the steering hints that Evenkeel puts on nodes for a short time: which taint or label a hint
// is, which annotations record its run and expiry, and how a node looks with and without it.
//
// The package decides what a node should contain. The package never calls an API server
// (hints/writer does) and never reads a clock. A taint or label without the annotations of Evenkeel
// belongs to another owner, and the package never changes it.
package hints

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is the kind of a hint.
type Kind string

// The kinds of hints.
const (
	None Kind = "none"
	// Taint is a PreferNoSchedule taint. The taint lowers the score of a node by up to 300 points
	// for each pod that does not tolerate the taint.
	Taint Kind = "taint"
	// Label is a node label. The label affects only pods whose node affinity avoids it. If that is
	// the only preferred term of a pod, the label lowers the score of the node by up to 200 points.
	Label Kind = "label"
)

// The keys and values on a node. The scheduler does not read the annotations.
const (
	Key               = "evenkeel.io/steer"         // of the taint and of the label
	Value             = "avoid"                     // of the label; the taint has none
	RunAnnotation     = "evenkeel.io/steer-run"     // annotation: ID of the pass that wrote the hint
	ExpiresAnnotation = "evenkeel.io/steer-expires" // annotation: when the hint expires, in RFC 3339
	KindAnnotation    = "evenkeel.io/steer-kind"    // annotation: taint or label, whichever belongs to the hint
)

// Hint is a steering hint on a node.
type Hint struct {
	Node string
	Kind Kind
	Run  string
	// Expires is zero if the annotation cannot be parsed.
	Expires time.Time
}

// MaxTTL is the longest lifetime of a hint.
const MaxTTL = 24 * time.Hour

// keepEmptyPrefix begins the Run of a hint that stays on an emptied node after its run.
const keepEmptyPrefix = "empty-"

// KeepEmpty returns a hint that keeps new pods away from a node that a run has emptied. It stays until it expires.
func KeepEmpty(node string, kind Kind, run string, expires time.Time) Hint {
	return Hint{node, kind, keepEmptyPrefix + run, expires}
}

// KeepsEmpty reports whether the hint keeps new pods away from an emptied node. It does not belong to a wave.
func (h Hint) KeepsEmpty() bool { return strings.HasPrefix(h.Run, keepEmptyPrefix) }

// Expired reports whether any process may remove the hint. A kubelet may write any annotation on its own node, so a
// hint whose expiry cannot be parsed or lies more than MaxTTL ahead has expired, too: Evenkeel writes no such expiry.
func (h Hint) Expired(now time.Time) bool {
	return h.Expires.IsZero() || now.After(h.Expires) || h.Expires.After(now.Add(MaxTTL))
}

// NewTaint returns the taint of a hint.
func NewTaint() corev1.Taint {
	return corev1.Taint{Key: Key, Effect: corev1.TaintEffectPreferNoSchedule}
}

func isHintTaint(t corev1.Taint) bool {
	return t.Key == Key && t.Effect == corev1.TaintEffectPreferNoSchedule
}

// HasTaint reports whether the node has the taint, regardless of its owner.
func HasTaint(n *corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, isHintTaint) }

// HasLabel reports whether the node has the label, regardless of its owner.
func HasLabel(n *corev1.Node) bool { return n.Labels[Key] == Value }

// FromNode returns the hint that Evenkeel put on the node. A taint or label under Key belongs to
// another owner if the annotations of Evenkeel are missing or record the other kind. The kind is
// None if another client removed the taint or label and left the annotations.
func FromNode(n *corev1.Node) (Hint, bool) {
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

// WithHint returns the node with the hint, and whether it changed. WithHint changes nothing else on
// the node. If a taint or label of another owner uses Key, WithHint keeps it, writes no hint, and
// removes an existing hint of Evenkeel.
func WithHint(n *corev1.Node, h Hint) (*corev1.Node, bool) {
	old, ours := FromNode(n)
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
		metav1.SetMetaDataLabel(&out.ObjectMeta, Key, Value)
	}
	for key, value := range map[string]string{RunAnnotation: h.Run, ExpiresAnnotation: h.Expires.UTC().Format(time.RFC3339),
		KindAnnotation: string(h.Kind)} {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, key, value)
	}
	return out, true
}

// Remove returns the node without our hint, and whether it changed.
func Remove(n *corev1.Node) (*corev1.Node, bool) {
	if _, ours := FromNode(n); !ours {
		return n, false
	}
	return withoutHint(n), true
}

func withoutHint(n *corev1.Node) *corev1.Node {
	out := n.DeepCopy()
	h, ours := FromNode(n)
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

// WithLabel returns a copy of the node with the label.
func WithLabel(n *corev1.Node) *corev1.Node {
	out := *n
	out.Labels = maps.Clone(n.Labels)
	metav1.SetMetaDataLabel(&out.ObjectMeta, Key, Value)
	return &out
}
