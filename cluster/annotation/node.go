package annotation

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
)

// Node holds the requests on one node.
type Node struct {
	// Exclude lists requests to treat the node as out of scope: its pods stay.
	Exclude []Source
	// DrainFirst asks to move the pods of this node before other pods that would help equally.
	DrainFirst bool
	Problems   []Problem
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
	for _, src := range o.values(Exclude) {
		switch src.Value {
		case "false":
		case "true":
			r.Exclude = append(r.Exclude, src)
		default:
			r.Exclude = append(r.Exclude, truncated(src))
			r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: wantBool})
		}
	}
	for _, src := range o.values(DrainFirst) {
		switch src.Value {
		case "false":
		case "true":
			r.DrainFirst = true
		default:
			r.Problems = append(r.Problems, Problem{Source: truncated(src), Want: wantBool})
		}
	}
	return r
}
