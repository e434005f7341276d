package pressure_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// TestInvalidRecords checks that a record is invalid as a whole if one field has the wrong type or the text is
// truncated.
func TestInvalidRecords(t *testing.T) {
	const valid = `{"since":"2026-01-01T12:00:00Z","expires":"2026-01-01T12:10:00Z","rule":"cpu","value":0.9,"label":"status=hot"}`
	owned := pressure.Owned{Labels: []string{"status=hot"}}
	for text, problem := range map[string]string{
		valid: "",
		strings.Replace(valid, "0.9", `"0.9"`, 1): "it cannot be read",
		strings.TrimSuffix(valid, "}"):            "it cannot be read",
		"":                                        "it cannot be read",
		strings.Replace(valid, "2026-01-01T12:10:00Z", "0001-01-01T00:00:00Z", 1): "it does not say when the hint expires",
		strings.Replace(valid, `"cpu"`, `"c p u"`, 1):                             "it names a rule that no configuration can have",
		strings.Replace(valid, "status=hot", "", 1):                               "it names neither a label nor a taint",
		strings.Replace(valid, "status=hot", "status=other", 1):                   `it names the label "status=other", which neither hints.label nor hints.former contains`,
		strings.Replace(valid, `"label":"status=hot"`, `"taint":"a"`, 1):          `it names the taint "a", which neither hints.taint nor hints.former contains`,
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Annotations: map[string]string{pressure.Key: text}}}
		h, ok := owned.FromNode(n)
		if got := owned.InvalidRecord(n); got != problem || ok != (problem == "") || !ok && h.Label != "" {
			t.Errorf("%s\nis a record: %v, %+v; problem %q, want %q", text, ok, h, got, problem)
		}
	}
}

// TestValueIsRounded: the record holds the measured value with four decimal places.
func TestValueIsRounded(t *testing.T) {
	owned := pressure.Owned{Labels: []string{"status=hot"}}
	n, _ := owned.WithHint(&corev1.Node{}, pressure.Hint{Rule: "cpu", Value: 0.123456, Label: "status=hot"})
	if text := n.Annotations[pressure.Key]; !strings.Contains(text, `"value":0.1235,`) {
		t.Errorf("recorded %s", text)
	}
}
