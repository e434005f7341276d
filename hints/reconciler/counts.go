package reconciler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// Counts contains the numbers of one reconciliation, for metrics.
type Counts struct {
	// ByRule is the number of nodes with a hint, by the rule recorded in the hint. In a dry run it
	// is the number of nodes that would have a hint.
	ByRule map[string]int
	// Unmeasured, Capped, Foreign and Unknown are numbers of nodes, as in pressure.Decision.
	Unmeasured, Capped, Foreign, Unknown int
	// Written and Failed are the numbers of node writes of this reconciliation.
	Written, Failed int
}

// countByRule counts the desired hints by rule. For nodes that could not be written, it counts the
// hint that is on the node instead.
func countByRule(rules []pressure.Rule, hinted []pressure.Hint, nodes []*corev1.Node, undone []string) map[string]int {
	out := map[string]int{}
	for _, r := range rules {
		out[r.Name] = 0
	}
	missed := make(map[string]bool, len(undone))
	for _, name := range undone {
		missed[name] = true
	}
	for _, h := range hinted {
		if !missed[h.Node] {
			out[h.Rule]++
		}
	}
	for _, n := range nodes {
		if h, ours := pressure.FromNode(n); ours && missed[n.Name] {
			out[h.Rule]++
		}
	}
	return out
}
