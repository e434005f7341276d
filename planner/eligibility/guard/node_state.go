package guard

import "github.com/evenkeel-project/evenkeel/cluster"

// disruptionTaints maps the taints of nodes that will be removed to the programs that set them.
var disruptionTaints = map[string]string{
	"karpenter.sh/disrupted":         "Karpenter",
	"karpenter.sh/disruption":        "Karpenter",
	"ToBeDeletedByClusterAutoscaler": "the cluster autoscaler",
}

// DisruptedBy names what removes the node. It returns "" if nothing does.
func DisruptedBy(n *cluster.Node) string {
	if n.Object.DeletionTimestamp != nil {
		return "a delete request"
	}
	for i := range n.Object.Spec.Taints {
		if by, ok := disruptionTaints[n.Object.Spec.Taints[i].Key]; ok {
			return by
		}
	}
	return ""
}

// NodeState describes why a node takes no pods or loses its pods. It returns an empty list for
// a node without such a state.
func NodeState(n *cluster.Node) []string {
	state := []string{}
	if n.Object.Spec.Unschedulable {
		state = append(state, "cordoned")
	}
	if !n.Ready {
		state = append(state, "not Ready")
	}
	if by := DisruptedBy(n); by != "" {
		state = append(state, "being removed by "+by)
	}
	return state
}
