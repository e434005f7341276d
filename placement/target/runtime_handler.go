package target

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The container runtime of a node starts only pods whose runtime handler it has. The kind are the handlers of all
// RuntimeClasses. If the snapshot has no RuntimeClass, or a node lists no handlers, the handler is unknown and passes.
var runtimeHandler = Rule{Code: plan.OnlyRefusingNodes,
	Key: func(in *Input, b []byte, p *cluster.Pod) []byte { return append(b, in.handler(p)...) },
	Pod: func(in *Input, p *cluster.Pod, n *cluster.Node) string {
		want, have := in.handler(p), n.Object.Status.RuntimeHandlers
		if len(have) == 0 || slices.ContainsFunc(have, func(h corev1.NodeRuntimeHandler) bool { return h.Name == want }) {
			return ""
		}
		return fmt.Sprintf("without the runtime handler %s of RuntimeClass %s", want, *p.Object.Spec.RuntimeClassName)
	},
}

// handler returns the runtime handler that the pod names by its RuntimeClass, or "".
func (in *Input) handler(p *cluster.Pod) string {
	name := p.Object.Spec.RuntimeClassName
	if name == nil || in.Snapshot.Objects == nil {
		return ""
	}
	i := slices.IndexFunc(in.Snapshot.Objects.RuntimeClasses, func(c *nodev1.RuntimeClass) bool { return c.Name == *name })
	if i < 0 {
		return ""
	}
	return in.Snapshot.Objects.RuntimeClasses[i].Handler
}
