package search

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

// Steering says which nodes may be hinted, and how many at once.
type Steering struct {
	Kind     hints.Kind
	refused  []string // by node: why it must not be hinted, or empty
	maxNodes int
	// alreadyHinted are nodes that carry the hint in the snapshot already, left by a
	// pass that was killed; they count towards most.
	alreadyHinted []cluster.NodeID
	// eligible are the nodes that may be hinted and that ordinary pods can go to.
	eligible int
}

func newSteering(s *cluster.Snapshot, o *settings.Options) *Steering {
	st := &Steering{Kind: o.Steer}
	if !o.Steers() {
		return st
	}
	st.refused = make([]string, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		st.refused[i] = whyNotHinted(n, o.Guards.Scope)
		if st.refused[i] == "" && admitsOrdinaryPods(n) {
			st.eligible++
		}
		if st.Kind == hints.Taint && hints.HasTaint(n.Object) || st.Kind == hints.Label && hints.HasLabel(n.Object) {
			st.alreadyHinted = append(st.alreadyHinted, n.ID)
		}
	}
	st.maxNodes = min(int(o.SteerMaxFrac*float64(st.eligible)+goal.Rounding), maxHintedNodes)
	return st
}

// maxHintedNodes bounds the nodes that are hinted at once, however large their
// share may be: so many can be written and cleaned up in the time that a
// process has after SIGTERM (controller).
const maxHintedNodes = 100

// autoscalerCandidateTaint marks a node that the cluster autoscaler may remove soon. It
// lets pods in, and its own scores must not be mixed with ours.
const autoscalerCandidateTaint = "DeletionCandidateOfClusterAutoscaler"

func whyNotHinted(n *cluster.Node, scope cluster.Scope) string {
	if who := guard.DisruptedBy(n); who != "" {
		return fmt.Sprintf("node %s is being removed by %s", n.Name, who)
	}
	for i := range n.Object.Spec.Taints {
		if n.Object.Spec.Taints[i].Key == autoscalerCandidateTaint {
			return fmt.Sprintf("the cluster autoscaler may take node %s away", n.Name)
		}
	}
	switch {
	case !n.Ready:
		return fmt.Sprintf("node %s is not Ready", n.Name)
	case !scope.HasNode(n):
		return fmt.Sprintf("node %s is out of scope (nodeSelector)", n.Name)
	case len(annotation.OfNode(n).Exclude) > 0:
		return fmt.Sprintf("node %s is excluded", n.Name)
	}
	return ""
}

// admitsOrdinaryPods reports whether pods without tolerations can go to the node.
func admitsOrdinaryPods(n *cluster.Node) bool {
	return !n.Object.Spec.Unschedulable && !slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// Forbids says why these nodes must not all be hinted at once; empty when they
// may.
func (st *Steering) Forbids(nodes []cluster.NodeID) string {
	for _, n := range nodes {
		if why := st.refused[n]; why != "" {
			return why
		}
	}
	if all := unionOf(nodes, st.alreadyHinted); len(all) > st.maxNodes {
		if st.maxNodes == maxHintedNodes {
			return fmt.Sprintf("%s would be hinted, and no more than %d are at once", CountNodes(len(all)), maxHintedNodes)
		}
		return fmt.Sprintf("%s would be hinted, and evictor.steerMaxFrac allows %d of %d", CountNodes(len(all)), st.maxNodes, st.eligible)
	}
	return ""
}

func CountNodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// ignoresHints says why no hint reaches the pod.
func (st *Steering) ignoresHints() string {
	if st.Kind == hints.Label {
		return "it has no node affinity that looks at the label " + hints.Key
	}
	return "it tolerates the taint " + hints.Key
}

// PredictWithHints is land, and where the replacement would come back or its place is not
// sure, it looks for hints on nodes that turn the balance.
func (c *State) PredictWithHints(pod cluster.PodID) (Landing, plan.Reason, bool) {
	l, reason, ok := c.PredictLanding(pod)
	if ok || !c.Options.Steers() || !steerable(reason.Code) {
		return l, reason, ok
	}
	steered, why := findHints([]*State{c}, pod, nil)
	if why != "" {
		reason.Message += "; not steered: " + why
		again, _, _ := c.PredictLanding(pod) // what was predicted with hints took its place
		l.predicted = again.predicted
		return l, reason, false
	}
	return steered, plan.Reason{}, true
}

// steerable: the pod may leave and could land well, only not surely enough.
func steerable(code plan.Code) bool { return code == plan.WouldReturn || code == plan.UncertainLanding }

// hintRounds is how often the nodes that would then win are hinted too. After
// that all nodes on which the replacement does not help are.
const hintRounds = 2

// findHints finds nodes to hint, beside base, so that the replacement of the pod
// lands well in every one of the states: those that could win without helping,
// as long as there are any. It says why when there are no such nodes. The hints
// of the states' worlds are base before and after.
func findHints(states []*State, pod cluster.PodID, base []cluster.NodeID) (Landing, string) {
	c := states[0]
	st := c.Steering
	if !c.Model.RespondsToHint(pod, st.Kind) {
		return Landing{}, st.ignoresHints()
	}
	defer SetHints(states, base)
	for round, hinted := 0, base; ; round++ {
		SetHints(states, hinted)
		l, more, reason := predictLandings(states, pod, round >= hintRounds)
		switch {
		case reason.Code == "":
			l.Hinted, l.Steered = hinted, true
			return l, ""
		case !steerable(reason.Code):
			return Landing{}, reason.Message
		}
		next := unionOf(hinted, more)
		if len(next) == len(hinted) || round > hintRounds {
			return Landing{}, "a hint would not be enough"
		}
		if why := st.Forbids(next); why != "" {
			return Landing{}, why
		}
		hinted = next
	}
}

// predictLandings lands the pod in every state. It returns the landing in the last,
// the nodes that should be hinted, and the first reason against it.
func predictLandings(states []*State, pod cluster.PodID, all bool) (l Landing, more []cluster.NodeID, reason plan.Reason) {
	for _, c := range states {
		fresh, r, ok := c.PredictLanding(pod)
		if ok {
			l = fresh
			continue
		}
		if reason.Code == "" || !steerable(r.Code) {
			reason = r
		}
		more = unionOf(more, c.unhelpfulNodes(pod, all))
	}
	return l, more, reason
}

// unhelpfulNodes are the nodes on which the replacement may land without helping;
// with all, those on which it fits without helping and that may be hinted.
func (c *State) unhelpfulNodes(pod cluster.PodID, all bool) []cluster.NodeID {
	from := c.Model.NodeOf(pod)
	pr := c.Model.Predict(pod)
	nodes := pr.Possible()
	if all {
		nodes = unionOf(nodes, slices.DeleteFunc(slices.Clone(pr.Gone.Feasible), func(n cluster.NodeID) bool { return c.Steering.refused[n] != "" }))
	}
	places := c.Goals.CheckTargets(pod, from)
	return slices.DeleteFunc(nodes, func(n cluster.NodeID) bool { return n != from && !c.Goals.UnderPressure[n] && places.Acceptable(n) })
}

func SetHints(states []*State, nodes []cluster.NodeID) {
	for _, c := range states {
		c.Model.SetHints(c.Steering.Kind, nodes)
	}
}

// unionOf of two sets of nodes, sorted.
func unionOf(a, b []cluster.NodeID) []cluster.NodeID {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// SteeringOf is what a move's field steer says.
func (c *State) SteeringOf(l Landing) string {
	if l.Steered {
		return string(c.Steering.Kind)
	}
	return string(hints.None)
}

func (c *State) WaveHints(wave int, nodes []cluster.NodeID) plan.WaveHints {
	h := plan.WaveHints{Wave: wave, Kind: string(c.Steering.Kind)}
	for _, n := range nodes {
		h.Nodes = append(h.Nodes, c.Snapshot.Nodes[n].Name)
	}
	return h
}
