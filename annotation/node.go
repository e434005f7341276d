package annotation

import "github.com/evenkeel-project/evenkeel/cluster"

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
	o := object{"node " + n.Name, n.Object}
	r.Problems = o.unknown(nodeKeys)
	switch src, ok := o.value(Exclude); {
	case !ok, src.Value == "false":
	case src.Value == "true":
		r.Exclude = append(r.Exclude, src)
	default:
		src.Value = clip(src.Value)
		r.Exclude = append(r.Exclude, src)
		r.Problems = append(r.Problems, Problem{src, "true or false"})
	}
	switch src, ok := o.value(DrainFirst); {
	case !ok, src.Value == "false":
	case src.Value == "true":
		r.DrainFirst = true
	default:
		src.Value = clip(src.Value)
		r.Problems = append(r.Problems, Problem{src, "true or false"})
	}
	return r
}
