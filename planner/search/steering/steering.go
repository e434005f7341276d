// Package steering decides which nodes may carry a hint while a wave runs, and how many at once. It
// never chooses the nodes, and never writes a hint.
package steering

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// Steering says which nodes the evictor may hint, and how many at once.
type Steering struct {
	Kind     hints.Kind
	Refused  []string // by node: why it must not be hinted; empty: it may be
	maxNodes int
	// alreadyHinted lists the nodes that carry a hint in the snapshot, left behind by a killed pass. These nodes
	// count towards maxNodes.
	alreadyHinted []cluster.NodeID
	// KeptEmpty marks, by node, those with a hint that keeps new pods away from an emptied node. They need no hint of a
	// wave, and do not count towards maxNodes.
	KeptEmpty []bool
	// eligible counts the nodes that may be hinted and that admit pods without tolerations.
	eligible int
}

// New returns the rules for hints of a kind on the nodes of a snapshot.
func New(s *cluster.Snapshot, kind hints.Kind, scope cluster.Scope) *Steering {
	st := &Steering{Kind: kind}
	if kind != hints.Taint && kind != hints.Label {
		return st
	}
	st.Refused, st.KeptEmpty = make([]string, len(s.Nodes)), make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		st.Refused[i] = whyNotHinted(n, scope)
		if st.Refused[i] == "" && admitsOrdinaryPods(n) {
			st.eligible++
		}
		if h, ours := hints.FromNode(n.Object); ours && h.KeepsEmpty() && h.Kind == st.Kind {
			st.KeptEmpty[i] = true
			continue
		}
		if st.Kind == hints.Taint && hints.HasTaint(n.Object) || st.Kind == hints.Label && hints.HasLabel(n.Object) {
			st.alreadyHinted = append(st.alreadyHinted, n.ID)
		}
	}
	st.maxNodes = min(int(maxHintedFrac*float64(st.eligible)+goal.Rounding), maxHintedNodes)
	return st
}

// A wave hints at most this share of the eligible nodes, so that others take its pods, and at most this many. The
// controller can remove so many hints between SIGTERM and its exit.
const (
	maxHintedFrac  = 0.67
	maxHintedNodes = 100
)

// whyNotHinted returns why the node must not carry a hint, or "". A mark of an outgoing node lowers its score, and
// hints must not change that score.
func whyNotHinted(n *cluster.Node, scope cluster.Scope) string {
	if f, found := scope.Marks.First(n.Object, nodemarks.Removing, nodemarks.Draining, nodemarks.Outgoing); found {
		return fmt.Sprintf("node %s is %s", n.Name, f.Describe())
	}
	switch {
	case !n.Ready:
		return fmt.Sprintf("node %s is not Ready", n.Name)
	case scope.Virtual.Kind(n.Object) != "":
		return fmt.Sprintf("node %s is virtual (%s)", n.Name, scope.Virtual.Kind(n.Object))
	case !scope.SelectsNode(n):
		return fmt.Sprintf("node %s is out of scope (nodeSelector)", n.Name)
	case len(annotation.OfNode(n).Exclude) > 0:
		return fmt.Sprintf("node %s is excluded", n.Name)
	}
	return ""
}

// admitsOrdinaryPods reports whether the node admits pods without tolerations.
func admitsOrdinaryPods(n *cluster.Node) bool {
	return !n.Object.Spec.Unschedulable && !slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// Forbids returns the reason why these nodes must not all be hinted at once, or "" if hinting them is allowed.
func (st *Steering) Forbids(nodes []cluster.NodeID) string {
	for _, n := range nodes {
		if why := st.Refused[n]; why != "" {
			return why
		}
	}
	if all := Union(nodes, st.alreadyHinted); len(all) > st.maxNodes {
		if st.maxNodes == maxHintedNodes {
			return fmt.Sprintf("%s would be hinted, and no more than %d are at once", plural.Count(len(all), "node"), maxHintedNodes)
		}
		return fmt.Sprintf("%s would be hinted, and steering allows %d of %d", plural.Count(len(all), "node"),
			st.maxNodes, st.eligible)
	}
	return ""
}

// NoResponseReason explains why hints do not affect a pod.
func (st *Steering) NoResponseReason() string {
	if st.Kind == hints.Label {
		return "it has no node affinity that looks at the label " + hints.Key
	}
	return "it tolerates the taint " + hints.Key
}

// Union returns the union of two sets of nodes, sorted.
func Union(a, b []cluster.NodeID) []cluster.NodeID {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
