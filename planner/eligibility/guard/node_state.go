package guard

import "github.com/evenkeel-project/evenkeel/cluster"

// NodeState says in words why a node takes no pods or loses those it has; it is
// empty when nothing of the kind is known.
func NodeState(n *cluster.Node) []string {
	state := []string{}
	if n.Object.Spec.Unschedulable {
		state = append(state, "cordoned")
	}
	if !n.Ready {
		state = append(state, "not Ready")
	}
	if who := DisruptedBy(n); who != "" {
		state = append(state, "being taken away by "+who)
	}
	return state
}
