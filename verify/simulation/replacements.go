package simulation

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// WithReplacements returns a copy of o in which every moved pod is Ready on its predicted node and
// all budgets are healthy. A replacement keeps the name of the evicted pod. WithReplacements does
// not change o.
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
