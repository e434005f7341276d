package reconciler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// Counts are for metrics.
type Counts struct {
	// ByRule is how many nodes carry a hint after this look, by the rule that is
	// recorded; in a dry run, how many would.
	ByRule map[string]int
	// Unmeasured, Capped, Foreign and Unknown are as in pressure.Decision, in nodes.
	Unmeasured, Capped, Foreign, Unknown int
	// Written and Failed are writes of this look.
	Written, Failed int
}

// countByRule counts the hints that are wanted; of a node whose change was not made, the one
// that stands there instead.
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
		if h, ours := pressure.Of(n); ours && missed[n.Name] {
			out[h.Rule]++
		}
	}
	return out
}
