package annotation

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// List names everything that is asked for a pod, where it stands: on the pod, the
// owners above it, its namespace and its node. What cannot be read says so.
func List(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) []string {
	if loc == nil {
		loc = time.UTC
	}
	var out []string
	for i, o := range carriers(s, p) {
		keys := podKeys.names
		if i == 0 {
			keys = slices.Concat(podKeys.names, foreignKeys)
		}
		problems := problemsOf(o, loc)
		if i == 0 {
			var foreign Pod
			foreign.foreign(o)
			problems = append(problems, foreign.Problems...)
		}
		out = append(out, o.list(keys, problems)...)
	}
	if p.Node != cluster.NoNode {
		out = append(out, ListOfNode(&s.Nodes[p.Node])...)
	}
	return out
}

// ListOfNode names everything that is asked for a node.
func ListOfNode(n *cluster.Node) []string {
	return object{"node " + n.Name, n.Object}.list(nodeKeys.names, OfNode(n).Problems)
}

func (o object) list(keys []string, problems []Problem) []string {
	var out []string
	for _, key := range keys {
		for _, src := range o.values(key) {
			src = clipped(src)
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
