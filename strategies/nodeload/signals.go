package nodeload

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
)

// measureSignals returns, by node index, the reason why no pod may leave the node, because it is
// not above each level of When. It returns nil if When is not set, and false if the usage of too
// few nodes is known.
func (l *configuredStrategy) measureSignals(s *cluster.Snapshot, nodes []*cluster.Node) (reasons []string, ok bool) {
	if len(l.args.When) == 0 {
		return nil, true
	}
	reasons = make([]string, len(nodes))
	for _, r := range sortedKeys(l.args.When) {
		a := s.Amounts(cluster.Measure{ByUsage: true, Resource: r}, l.scope.Usage)
		if !a.CoverageSufficient(l.scope) {
			return nil, false
		}
		for i, n := range nodes {
			if reasons[i] == "" {
				reasons[i] = signalReason(n, a, l.args.When[r])
			}
		}
	}
	return reasons, true
}

// signalReason returns "" if the node is certainly above the level. Unknown usage is not.
func signalReason(n *cluster.Node, a *cluster.Amounts, level float64) string {
	_, certain, known := a.NodeUsed(n.ID)
	switch {
	case !known:
		return fmt.Sprintf("above its target, but its %s is unknown (when)", a.Measure.Resource)
	case float64(certain) <= level*float64(a.Total(n.ID))+roundingTolerance:
		return fmt.Sprintf("above its target, but its %s does not exceed its threshold of %s in when", a.Measure.Resource, percent.Of(level))
	}
	return ""
}
