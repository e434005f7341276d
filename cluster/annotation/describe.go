package annotation

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// DescribePod lists, as text, the requests on a pod, its owners, its namespace and its node. It
// lists unreadable requests as problems.
func DescribePod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) []string {
	var out []string
	for i, o := range requestObjects(s, p) {
		if i == 0 {
			out = o.describe(slices.Concat(podKeys.keys, foreignKeys), podProblems(o, loc))
		} else {
			out = append(out, o.describe(podKeys.keys, objectProblems(o, loc))...)
		}
	}
	if p.Node != cluster.NoNode {
		out = append(out, DescribeNode(&s.Nodes[p.Node])...)
	}
	return out
}

// DescribeNode lists the requests on a node as text.
func DescribeNode(n *cluster.Node) []string {
	return object{"node " + n.Name, n.Object}.describe(slices.Concat(nodeKeys.keys, keptNodeKeys), OfNode(n).Problems)
}

func (o object) describe(keys []string, problems []Problem) []string {
	var out []string
	for _, key := range keys {
		for _, src := range o.requestValues(key) {
			src = src.truncated()
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
