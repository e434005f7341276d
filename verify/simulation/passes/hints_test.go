package passes

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

func nodesByName(s *cluster.Snapshot, names []string) (out []cluster.NodeID) {
	for _, name := range names {
		out = append(out, s.NodeByName(name).ID)
	}
	return out
}

// keepEmpty puts a hint on each node that the plan has emptied with hints, as the controller does.
func (c *Simulation) keepEmpty(pl plan.Plan, run string) {
	for _, g := range pl.Goals {
		keep := c.keepEmptyFor(g.Strategy)
		if g.Kind != plan.NodeEmpty || keep == 0 || pl.After.Excess[g.ID] > 0 || len(pl.Hints) == 0 ||
			slices.ContainsFunc(c.o.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == g.Subject.Name }) {
			continue
		}
		c.changeNode(g.Subject.Name, func(n *corev1.Node) (*corev1.Node, bool) {
			return hints.WithHint(n, hints.KeepEmpty(n.Name, hints.Kind(pl.Hints[0].Kind), run, c.now.Add(keep)))
		})
	}
}

// keepEmptyFor returns how long a hint stays on the nodes that the strategy empties.
func (c *Simulation) keepEmptyFor(strategy string) time.Duration {
	for _, st := range c.conf.BuildStrategies() {
		if st.Name == strategy {
			return st.Strategy.KeepEmptyFor
		}
	}
	return 0
}

// removeExpiredHints removes the hints that have expired, as the controller does before a pass.
func (c *Simulation) removeExpiredHints() {
	for _, n := range slices.Clone(c.o.Nodes) {
		if h, is := hints.FromNode(n); is && h.Expired(c.now) {
			c.changeNode(n.Name, hints.Remove)
		}
	}
}

// changeNode changes one node. Snapshots may share the original list.
func (c *Simulation) changeNode(name string, change func(*corev1.Node) (*corev1.Node, bool)) {
	c.o.Nodes = slices.Clone(c.o.Nodes)
	i := slices.IndexFunc(c.o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
	if n, changed := change(c.o.Nodes[i]); changed {
		c.o.Nodes[i] = n
	}
}
