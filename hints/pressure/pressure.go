// Package pressure knows the hints that say which nodes are under pressure: a
// label, a taint, or both, and an annotation that says whose they are, why they
// stand there and until when.
//
// It decides which nodes should carry a hint, from what is measured, and how a
// node looks with and without one. It never measures, never talks to an API
// server, never reads a clock, and never changes a label or taint that is not
// recorded as ours.
package pressure

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Key is the annotation in which a hint is recorded. It is also the key of the
// label and of the taint where the configuration names no other: those are what the
// scheduler sees, the annotation it does not.
const Key = "evenkeel.io/pressure"

// Hint is a hint on a node, as it is recorded there.
type Hint struct {
	Node string `json:"-"`
	// Since is when the node was first hinted, with no gap since.
	Since time.Time `json:"since"`
	// Expires is when anybody may take the hint away; zero where it cannot be read.
	Expires time.Time `json:"expires"`
	// Rule is the one that was furthest beyond its level when this was written, with
	// its value then, in the units of the rule. Also are others that held.
	Rule       string   `json:"rule"`
	Value      float64  `json:"value"`
	OtherRules []string `json:"also,omitempty"`
	// Label (key=value) and Taint (a key) are what of it is ours: what stands under
	// the same key without being named here is somebody else's.
	Label string `json:"label,omitempty"`
	Taint string `json:"taint,omitempty"`
}

// Expired reports whether anybody may take the hint away.
func (h Hint) Expired(now time.Time) bool { return !h.Expires.IsZero() && now.After(h.Expires) }

// Rules are all that held when the hint was written.
func (h Hint) Rules() []string {
	if h.Rule == "" {
		return nil
	}
	return append([]string{h.Rule}, h.OtherRules...)
}

// Equivalent reports whether two hints say the same, by the same label and taint, whenever
// they were written.
func (h Hint) Equivalent(other Hint) bool {
	return h.Label == other.Label && h.Taint == other.Taint && sameRules(h.Rules(), other.Rules())
}

// Description names the label and the taint.
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

// Of returns the hint that is recorded on a node. A record that cannot be read has
// no rule, no expiry and nothing that is ours.
func Of(n *corev1.Node) (Hint, bool) {
	text, ours := n.Annotations[Key]
	if !ours {
		return Hint{}, false
	}
	var h Hint
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		h = Hint{}
	}
	h.Node = n.Name
	return h, true
}

// Put returns the node with the hint, and whether that is a change. What stands of
// an earlier one of ours and is not wanted any more goes. A label or taint under a
// wanted key that is not ours stays, and is not made ours; where that leaves nothing
// to put, the node has no hint of ours.
func Put(n *corev1.Node, want Hint) (*corev1.Node, bool) {
	old, _ := Of(n)
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
		return Remove(n)
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[Key] = want.annotation()
	if sameHintFields(n, out) {
		return n, false
	}
	return out, true
}

// Remove returns the node without our hint, and whether that is a change.
func Remove(n *corev1.Node) (*corev1.Node, bool) {
	old, ours := Of(n)
	if !ours {
		return n, false
	}
	out := copyForEdit(n)
	removeLabel(out, old.Label)
	removeTaint(out, old.Taint)
	delete(out.Annotations, Key)
	return out, true
}

// copyForEdit is a copy that shares nothing of what hints consist of. The rest, such as
// the images on the node, is most of it and is not copied.
func copyForEdit(n *corev1.Node) *corev1.Node {
	out := *n
	out.Labels, out.Annotations, out.Spec.Taints = maps.Clone(n.Labels), maps.Clone(n.Annotations), slices.Clone(n.Spec.Taints)
	return &out
}

// annotation is the annotation: times in seconds, since it is read by people too.
func (h Hint) annotation() string {
	h.Since, h.Expires = h.Since.UTC().Truncate(time.Second), h.Expires.UTC().Truncate(time.Second)
	if h.Value = math.Round(h.Value*1e4) / 1e4; math.IsNaN(h.Value) || math.IsInf(h.Value, 0) {
		h.Value = 0
	}
	b, err := json.Marshal(h)
	if err != nil {
		panic("pressure: marshalling a hint: " + err.Error()) // only data types inside
	}
	return string(b)
}

func sameHintFields(a, b *corev1.Node) bool {
	return a.Annotations[Key] == b.Annotations[Key] && maps.Equal(a.Labels, b.Labels) && slices.Equal(taintStrings(a), taintStrings(b))
}

func taintStrings(n *corev1.Node) []string {
	out := make([]string, 0, len(n.Spec.Taints))
	for _, t := range n.Spec.Taints {
		out = append(out, t.ToString())
	}
	return out
}

// splitLabel splits a label; found is false where there is none.
func splitLabel(label string) (key, value string, found bool) { return strings.Cut(label, "=") }

// putLabel puts text (key=value) on the node, unless its key is somebody else's.
// It reports whether the label is ours then.
func putLabel(n *corev1.Node, text, recorded string) bool {
	key, value, found := splitLabel(text)
	if !found {
		return false
	}
	if there, taken := n.Labels[key]; taken {
		return text == recorded && there == value
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[key] = value
	return true
}

// removeLabel takes our label away, unless somebody else gave it another value.
func removeLabel(n *corev1.Node, recorded string) {
	if key, value, _ := splitLabel(recorded); key != "" && n.Labels[key] == value {
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

// isOwnTaint: we write no value.
func isOwnTaint(t corev1.Taint, key string) bool {
	return t.Key == key && t.Value == "" && t.Effect == corev1.TaintEffectPreferNoSchedule
}
