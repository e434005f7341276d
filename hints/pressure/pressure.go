// Package pressure defines the hints that mark nodes under pressure: a label, a taint or both, and
// an annotation that records the reason and the expiry.
//
// The package decides from measurements which nodes should have a hint, and how a node looks with
// and without a hint. The package never measures, never calls an API server, and never reads a
// clock. The package never changes a label or taint unless the record on the node and the configuration both name it.
package pressure

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Key is the annotation that records a hint. Key is also the default key of the label and of the
// taint. The scheduler reads the label and the taint, but not the annotation.
const Key = "evenkeel.io/pressure"

// Hint is a pressure hint, as the annotation on its node records it.
type Hint struct {
	Node string `json:"-"`
	// Since is the start of the uninterrupted time for which the node has had the hint.
	Since time.Time `json:"since"`
	// Expires is the time after which any process may remove the hint.
	Expires time.Time `json:"expires"`
	// Rule is the most severe hot rule when the hint was written. Value is the measured value in
	// the unit of the rule. OtherRules are the other hot rules.
	Rule       string   `json:"rule"`
	Value      float64  `json:"value"`
	OtherRules []string `json:"also,omitempty"`
	// Label (key=value) and Taint (a key) belong to this hint. A label or taint that is not
	// recorded here belongs to another owner.
	Label string `json:"label,omitempty"`
	Taint string `json:"taint,omitempty"`
}

// Expired reports whether any process may remove the hint.
func (h Hint) Expired(now time.Time) bool { return now.After(h.Expires) }

// Rules returns all rules that were hot when the hint was written.
func (h Hint) Rules() []string {
	if h.Rule == "" {
		return nil
	}
	return append([]string{h.Rule}, h.OtherRules...)
}

// Equivalent reports whether two hints have the same rules, label and taint, regardless of their times.
func (h Hint) Equivalent(other Hint) bool {
	return h.Label == other.Label && h.Taint == other.Taint && sameRules(h.Rules(), other.Rules())
}

// Description returns the label and the taint as text.
func (h Hint) Description() string {
	var out []string
	if h.Label != "" {
		out = append(out, "label "+h.Label)
	}
	if h.Taint != "" {
		out = append(out, "taint "+h.Taint+":"+string(corev1.TaintEffectPreferNoSchedule))
	}
	return strings.Join(out, ", ")
}

// WithHint returns the node with the hint, and whether it changed. WithHint removes the label and
// taint of an earlier hint if want does not contain them. If another owner's label or taint uses a
// wanted key, WithHint neither changes nor records it. If that leaves neither a label nor a taint,
// WithHint removes the hint. WithHint replaces an invalid record, and keeps the label and the taint
// that it names.
func (o Owned) WithHint(n *corev1.Node, want Hint) (*corev1.Node, bool) {
	old, _ := o.FromNode(n)
	out := copyForEdit(n)
	if old.Label != want.Label {
		removeLabel(out, old.Label)
	}
	if old.Taint != want.Taint {
		removeTaint(out, old.Taint)
	}
	if !putLabel(out, want.Label, old.Label) {
		want.Label = ""
	}
	if !putTaint(out, want.Taint, old.Taint) {
		want.Taint = ""
	}
	if want.Label == "" && want.Taint == "" {
		return o.Remove(n)
	}
	metav1.SetMetaDataAnnotation(&out.ObjectMeta, Key, want.annotation())
	if sameHintFields(n, out) {
		return n, false
	}
	return out, true
}

// Remove returns the node without our hint, and whether it changed. Of an invalid record, Remove removes only the
// annotation.
func (o Owned) Remove(n *corev1.Node) (*corev1.Node, bool) {
	old, _, recorded := o.readRecord(n)
	if !recorded {
		return n, false
	}
	out := copyForEdit(n)
	removeLabel(out, old.Label)
	removeTaint(out, old.Taint)
	delete(out.Annotations, Key)
	return out, true
}

// copyForEdit returns a copy of the node that can be edited in labels, annotations and taints. The
// copy shares everything else, such as the list of images.
func copyForEdit(n *corev1.Node) *corev1.Node {
	out := *n
	out.Labels, out.Annotations, out.Spec.Taints = maps.Clone(n.Labels), maps.Clone(n.Annotations), slices.Clone(n.Spec.Taints)
	return &out
}

// annotation returns the hint as JSON, with times truncated to seconds.
func (h Hint) annotation() string {
	h.Since, h.Expires = h.Since.UTC().Truncate(time.Second), h.Expires.UTC().Truncate(time.Second)
	if h.Value = math.Round(h.Value*1e4) / 1e4; math.IsNaN(h.Value) || math.IsInf(h.Value, 0) {
		h.Value = 0
	}
	b, err := json.Marshal(h)
	if err != nil {
		panic("pressure: marshalling a hint: " + err.Error()) // Hint contains only plain data
	}
	return string(b)
}

func sameHintFields(a, b *corev1.Node) bool {
	return a.Annotations[Key] == b.Annotations[Key] && maps.Equal(a.Labels, b.Labels) &&
		slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, func(s, t corev1.Taint) bool { return s.ToString() == t.ToString() })
}

// putLabel puts the label text (key=value) on the node, unless another owner uses its key. putLabel
// reports whether the label is ours now.
func putLabel(n *corev1.Node, text, recorded string) bool {
	key, value, found := strings.Cut(text, "=")
	if !found {
		return false
	}
	if there, taken := n.Labels[key]; taken {
		return text == recorded && there == value
	}
	metav1.SetMetaDataLabel(&n.ObjectMeta, key, value)
	return true
}

// removeLabel removes our label, unless another client has changed its value.
func removeLabel(n *corev1.Node, recorded string) {
	if key, value, _ := strings.Cut(recorded, "="); key != "" && n.Labels[key] == value {
		delete(n.Labels, key)
	}
}

func putTaint(n *corev1.Node, key, recorded string) bool {
	if key == "" {
		return false
	}
	for _, t := range n.Spec.Taints {
		if t.Key == key && t.Effect == corev1.TaintEffectPreferNoSchedule {
			return key == recorded && isOwnTaint(t, key)
		}
	}
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectPreferNoSchedule})
	return true
}

func removeTaint(n *corev1.Node, recorded string) {
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return recorded != "" && isOwnTaint(t, recorded) })
}

// isOwnTaint reports whether the taint can be ours: our taints have no value.
func isOwnTaint(t corev1.Taint, key string) bool {
	return t.Key == key && t.Value == "" && t.Effect == corev1.TaintEffectPreferNoSchedule
}

// Foreign is a label or taint of another owner that uses a hint key.
type Foreign struct{ Node, Description string }

const (
	labelPrefix = "label "
	taintPrefix = "taint "
)

// FindForeign returns the labels and taints on a node that use labelKey or taintKey but belong to
// another owner. An empty key matches nothing.
func (o Owned) FindForeign(n *corev1.Node, labelKey, taintKey string) []Foreign {
	old, _ := o.FromNode(n)
	var out []Foreign
	if there, taken := n.Labels[labelKey]; labelKey != "" && taken && old.Label != labelKey+"="+there {
		out = append(out, Foreign{n.Name, fmt.Sprintf("%s%s=%s", labelPrefix, labelKey, there)})
	}
	for _, t := range n.Spec.Taints {
		if taintKey != "" && t.Key == taintKey && t.Effect == corev1.TaintEffectPreferNoSchedule &&
			!(old.Taint == taintKey && isOwnTaint(t, taintKey)) {
			out = append(out, Foreign{n.Name, taintPrefix + t.ToString()})
		}
	}
	return out
}

// RemoveCommand returns a kubectl command that removes the label or taint. Evenkeel never removes it.
func (f Foreign) RemoveCommand() string {
	if label, is := strings.CutPrefix(f.Description, labelPrefix); is {
		key, _, _ := strings.Cut(label, "=")
		return "kubectl label node " + f.Node + " " + key + "-"
	}
	return "kubectl taint node " + f.Node + " " + strings.TrimPrefix(f.Description, taintPrefix) + "-"
}
