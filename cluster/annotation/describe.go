package annotation

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// DescribePod lists every request that applies to a pod, as text: those on the pod, its owners,
// its namespace and its node. Unreadable requests are listed as problems.
func DescribePod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) []string {
	if loc == nil {
		loc = time.UTC
	}
	var out []string
	for i, o := range requestObjects(s, p) {
		keys := podKeys.keys
		if i == 0 {
			keys = slices.Concat(podKeys.keys, foreignKeys)
		}
		problems := objectProblems(o, loc)
		if i == 0 {
			var foreign Pod
			foreign.readForeignKeys(o)
			problems = append(problems, foreign.Problems...)
		}
		out = append(out, o.describe(keys, problems)...)
	}
	if p.Node != cluster.NoNode {
		out = append(out, DescribeNode(&s.Nodes[p.Node])...)
	}
	return out
}

// DescribeNode lists every request on a node, as text.
func DescribeNode(n *cluster.Node) []string {
	return object{"node " + n.Name, n.Object}.describe(nodeKeys.keys, OfNode(n).Problems)
}

func (o object) describe(keys []string, problems []Problem) []string {
	var out []string
	for _, key := range keys {
		for _, src := range o.values(key) {
			src = truncated(src)
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Source == src }) {
				out = append(out, src.String())
			}
		}
	}
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}
