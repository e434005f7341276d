package annotation

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
)

// Node holds the requests on one node.
type Node struct {
	// Exclude lists the requests to keep the planner away from the node and its pods.
	Exclude []Source
	// DrainFirst makes the planner move the pods of this node before other pods that would help
	// equally.
	DrainFirst bool
	Problems   []Problem
}

// KeepsNode reports whether an annotation forbids the Cluster Autoscaler or Karpenter to remove the node.
func KeepsNode(n *cluster.Node) bool {
	return slices.ContainsFunc(keptNodeKeys, func(key string) bool {
		value, has := n.Object.Annotations[key]
		return has && value != "false"
	})
}

// OfNode reads the requests on a node. If an exclude value cannot be read, the node is
// excluded.
func OfNode(n *cluster.Node) Node {
	var r Node
	if !hasKnownKey(n.Object) {
		return r
	}
	o := object{"node " + n.Name, n.Object}
	r.Problems = slices.DeleteFunc(o.unknownKeys(nodeKeys, podKeys), func(p Problem) bool { return hints.IsOwnKey(p.Key) })
	for _, key := range nodeKeys.keys {
		for _, src := range o.requestValues(key) {
			switch {
			case src.Value == "false":
				continue
			case src.Value != "true":
				src = src.truncated()
				r.Problems = append(r.Problems, newProblem(src, wantBool))
			case key == DrainFirst:
				r.DrainFirst = true
			}
			if key == Exclude {
				r.Exclude = append(r.Exclude, src)
			}
		}
	}
	return r
}
