package pressure

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxRecordBytes is the largest annotation that is read. A record with 100 rules of the longest name has about 7 KiB.
const maxRecordBytes = 16 << 10

// ruleName matches the names that a configuration may give to a rule.
var ruleName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// Owned lists the labels (key=value) and the taint keys that may belong to a hint: those of the configuration and those
// of an earlier one. A kubelet may write any annotation on its own node, so that the annotation alone proves nothing.
type Owned struct{ Labels, Taints []string }

// FromNode returns the hint that is recorded on a node. FromNode returns false if there is no
// record, or an invalid one.
func (o Owned) FromNode(n *corev1.Node) (Hint, bool) {
	h, problem, recorded := o.readRecord(n)
	return h, recorded && problem == ""
}

// InvalidRecord says why the annotation on a node is not the record of a hint. InvalidRecord
// returns "" if the record is valid or there is none.
func (o Owned) InvalidRecord(n *corev1.Node) string {
	_, problem, _ := o.readRecord(n)
	return problem
}

// readRecord reads the annotation of a node. The text of a problem contains nothing of the annotation without quotes.
func (o Owned) readRecord(n *corev1.Node) (_ Hint, problem string, recorded bool) {
	text, recorded := n.Annotations[Key]
	if !recorded {
		return Hint{}, "", false
	}
	if len(text) > maxRecordBytes {
		return Hint{}, fmt.Sprintf("it has %d bytes, more than Evenkeel writes", len(text)), true
	}
	var h Hint
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return Hint{}, "it cannot be read", true
	}
	h.Node = n.Name
	if problem := o.problem(h); problem != "" {
		return Hint{}, problem, true
	}
	return h, "", true
}

func (o Owned) problem(h Hint) string {
	switch {
	case h.Expires.IsZero():
		return "it does not say when the hint expires"
	case slices.ContainsFunc(h.Rules(), func(name string) bool { return !ruleName.MatchString(name) }):
		return "it names a rule that no configuration can have"
	case h.Label == "" && h.Taint == "":
		return "it names neither a label nor a taint"
	case h.Label != "" && !slices.Contains(o.Labels, h.Label):
		return fmt.Sprintf("it names the label %.200q, which neither hints.label nor hints.former contains", h.Label)
	case h.Taint != "" && !slices.Contains(o.Taints, h.Taint):
		return fmt.Sprintf("it names the taint %.200q, which neither hints.taint nor hints.former contains", h.Taint)
	}
	return ""
}

// OnNode returns the hint without the label and the taint that are not on the node. Another client
// may have removed them and left the record.
func (h Hint) OnNode(n *corev1.Node) Hint {
	key, value, _ := strings.Cut(h.Label, "=")
	if there, labelled := n.Labels[key]; !labelled || there != value {
		h.Label = ""
	}
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return isOwnTaint(t, h.Taint) }) {
		h.Taint = ""
	}
	return h
}

// Complete reports whether the label and the taint of the hint are on the node.
func (h Hint) Complete(n *corev1.Node) bool {
	there := h.OnNode(n)
	return there.Label == h.Label && there.Taint == h.Taint
}

// InvalidRecord is an annotation that looks like the record of a hint, but is none. Problem says why.
type InvalidRecord struct{ Node, Problem string }

// notAfter returns the earlier of two times.
func notAfter(at, latest time.Time) time.Time {
	if at.After(latest) {
		return latest
	}
	return at
}
