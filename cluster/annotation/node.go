package annotation

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
)

// Node is what is asked for one node.
type Node struct {
	// Exclude: its pods stay, as on a node that is out of scope.
	Exclude []Source
	// DrainFirst: its pods go before others that would help as much.
	DrainFirst bool
	Problems   []Problem
}

// OfNode reads a node's requests. An exclude that cannot be read excludes.
func OfNode(n *cluster.Node) Node {
	var r Node
	if !hasKnownKey(n.Object) {
		return r
	}
	o := object{"node " + n.Name, n.Object}
	r.Problems = slices.DeleteFunc(o.unknownKeys(nodeKeys, podKeys), func(p Problem) bool { return hints.Own(p.Key) })
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
