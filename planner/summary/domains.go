package summary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// uncountedDomains describes topology values that no skew goal counts, or that some goals do not count although their
// pods run there. Such values explain why a goal can be met while the numbers of pods per zone look uneven.
func uncountedDomains(c *search.Result, strategies []plan.StrategyState) []string {
	keys := map[string]bool{}
	if slices.ContainsFunc(strategies, func(st plan.StrategyState) bool { return st.Goals == 0 }) {
		keys[limits.ZoneKey] = true // a closed zone can be the reason why a strategy has no goal
	}
	missing := map[[2]string]int{} // by key and value: number of goals that do not count it but have pods there
	for i := range c.End.Goals.Goals {
		g := &c.End.Goals.Goals[i]
		if k, ok := c.End.Goals.Measures[i].(*goal.SkewMeasure); ok {
			keys[g.TopologyKey] = true
			for value := range domainsOutside(c, k, g) {
				missing[[2]string{g.TopologyKey, value}]++
			}
		}
	}
	out := []string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		byValue := nodesByLabel(c, key)
		for _, value := range slices.Sorted(maps.Keys(byValue)) {
			goals := missing[[2]string{key, value}]
			why, all := allNodesClosed(c, byValue[value])
			switch {
			case value == "" && key == limits.ZoneKey: // nodesInput counts these nodes
			case all && isCounted(c, key, value):
				out = append(out, fmt.Sprintf("%s takes no pods: %s", value, why))
			case all:
				out = append(out, fmt.Sprintf("%s is not counted: %s", value, why))
			case goals > 0:
				out = append(out, fmt.Sprintf("%s is not counted by %s: pods that stand there could not run there again", value,
					plural.Count(goals, "goal")))
			}
		}
	}
	return out
}

// isCounted reports whether a skew goal counts the value, as goals about topology spread
// constraints count closed zones.
func isCounted(c *search.Result, key, value string) bool {
	return slices.ContainsFunc(c.End.Goals.Goals, func(g plan.Goal) bool {
		_, found := slices.BinarySearch(g.Domains, value)
		return found && g.Kind == plan.SkewAtMost && g.TopologyKey == key
	})
}

// domainsOutside returns the values of the topology key that the goal does not count although pods of its group run
// there.
func domainsOutside(c *search.Result, k *goal.SkewMeasure, g *plan.Goal) map[string]bool {
	if !slices.Contains(k.IndexByDomain, goal.NoDomain) {
		return nil
	}
	out := map[string]bool{}
	for _, id := range g.Pods {
		n := c.Snapshot.Pods[id].Node
		if n == cluster.NoNode || k.Domains.ByNode[n] == goal.NoDomain {
			continue
		}
		if k.IndexByDomain[k.Domains.ByNode[n]] == goal.NoDomain {
			value, _ := c.Snapshot.Nodes[n].Label(g.TopologyKey)
			out[value] = true
		}
	}
	return out
}

// nodesByLabel groups the nodes in scope by the value of a label. nodesByLabel skips nodes without the label.
func nodesByLabel(c *search.Result, key string) map[string][]*cluster.Node {
	out := map[string][]*cluster.Node{}
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		if value, ok := n.Label(key); ok && c.Options.Guards.Scope.HasNode(n) {
			out[value] = append(out[value], n)
		}
	}
	return out
}

// allNodesClosed reports whether no pods are sent to any of the nodes, and describes why.
func allNodesClosed(c *search.Result, nodes []*cluster.Node) (why string, none bool) {
	var words []string
	for _, n := range nodes {
		if c.End.Targets.OfNodes()[n.ID] {
			return "", false
		}
		words = append(words, n.Name+" is "+strings.Join(c.End.Targets.State(n), ", "))
	}
	if extra := len(words) - maxNamed; extra > 0 {
		words = append(words[:maxNamed], fmt.Sprintf("and so on for %d more of its nodes", extra))
	}
	return strings.Join(words, ", "), true
}

// maxNamed is the largest number of nodes named in one problem.
const maxNamed = 3
