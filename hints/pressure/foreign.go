package pressure

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Foreign is a label or taint of another owner under our key.
type Foreign struct{ Node, Description string }

const (
	labelPrefix = "label "
	taintPrefix = "taint "
)

// ForeignOn returns the labels and taints of other owners on a node, under the given label key and
// taint key. An empty key matches nothing.
func ForeignOn(n *corev1.Node, labelKey, taintKey string) []Foreign {
	old, _ := Of(n)
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

// RemoveCommand returns the command with which a person can remove it. Evenkeel never does.
func (f Foreign) RemoveCommand() string {
	if label, is := strings.CutPrefix(f.Description, labelPrefix); is {
		key, _, _ := splitLabel(label)
		return "kubectl label node " + f.Node + " " + key + "-"
	}
	return "kubectl taint node " + f.Node + " " + strings.TrimPrefix(f.Description, taintPrefix) + "-"
}
