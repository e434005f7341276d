package simulation

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// WithReplacements are the objects with every moved pod where the plan says that its
// replacement lands, Ready, and all budgets whole again. It keeps the names of the
// pods: a replacement is told from its victim by where it stands alone. o is left
// as it is.
func WithReplacements(o *cluster.Objects, moves []plan.Move) *cluster.Objects {
	to := make(map[string]string, len(moves))
	for _, m := range moves {
		to[m.Pod.UID] = m.To
	}
	out := *o
	out.Pods = nil
	for _, p := range o.Pods {
		if node, moved := to[string(p.UID)]; moved {
			p = p.DeepCopy()
			p.Spec.NodeName = node
		}
		out.Pods = append(out.Pods, p)
	}
	return &out
}
