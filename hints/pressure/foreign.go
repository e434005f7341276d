package pressure

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Foreign is a label or taint of another owner that uses a hint key.
type Foreign struct{ Node, Description string }

const (
	labelPrefix = "label "
	taintPrefix = "taint "
)

// FindForeign returns the labels and taints on a node that use labelKey or taintKey but belong to
// another owner. An empty key matches nothing.
func FindForeign(n *corev1.Node, labelKey, taintKey string) []Foreign {
	old, _ := FromNode(n)
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

// RemoveCommand returns a kubectl command that removes the label or taint. Evenkeel never removes
// it.
func (f Foreign) RemoveCommand() string {
	if label, is := strings.CutPrefix(f.Description, labelPrefix); is {
		key, _, _ := splitLabel(label)
		return "kubectl label node " + f.Node + " " + key + "-"
	}
	return "kubectl taint node " + f.Node + " " + strings.TrimPrefix(f.Description, taintPrefix) + "-"
}
