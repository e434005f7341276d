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

// Steering says which nodes the evictor may hint, and how many at once.
type Steering struct {
	Kind     hints.Kind
	refused  []string // by node: why it must not be hinted; empty: it may be
	maxNodes int
	// alreadyHinted are the nodes that carry the hint in the snapshot. A pass that was killed
	// left them. They count towards maxNodes.
	alreadyHinted []cluster.NodeID
	// eligible counts the nodes that may be hinted and that admit pods without tolerations.
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

// maxHintedNodes bounds the nodes that are hinted at once, whatever evictor.steerMaxFrac
// allows. The controller can write and remove this many hints between SIGTERM and its end.
const maxHintedNodes = 100

// autoscalerCandidateTaint marks a node that the cluster autoscaler may remove soon. The
// taint does not keep pods out. It lowers the node's score, and hints must not interfere with
// that score.
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

// admitsOrdinaryPods reports whether the node admits pods without tolerations.
func admitsOrdinaryPods(n *cluster.Node) bool {
	return !n.Object.Spec.Unschedulable && !slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// Forbids returns why these nodes must not all be hinted at once. It returns an empty string
// if they may.
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

// ignoresHints returns why hints do not affect a pod that does not respond to them.
func (st *Steering) ignoresHints() string {
	if st.Kind == hints.Label {
		return "it has no node affinity that looks at the label " + hints.Key
	}
	return "it tolerates the taint " + hints.Key
}

// PredictWithHints predicts as PredictLanding does. If the replacement would return or its
// landing is uncertain, it looks for node hints that make the landing acceptable.
func (c *State) PredictWithHints(pod cluster.PodID) (Landing, plan.Reason, bool) {
	l, reason, ok := c.PredictLanding(pod)
	if ok || !c.Options.Steers() || !steerable(reason.Code) {
		return l, reason, ok
	}
	steered, why := findHints([]*State{c}, pod, nil)
	if why != "" {
		reason.Message += "; not steered: " + why
		again, _, _ := c.PredictLanding(pod) // findHints overwrote the prediction
		l.predicted = again.predicted
		return l, reason, false
	}
	return steered, plan.Reason{}, true
}

// steerable reports whether hints may change the result: the pod may leave, but its landing
// is not certain enough.
func steerable(code plan.Code) bool { return code == plan.WouldReturn || code == plan.UncertainLanding }

// hintRounds is how many rounds of findHints add only the nodes on which the replacement may
// land. Later rounds add all nodes on which the replacement fits but does not help.
const hintRounds = 2

// findHints finds nodes to hint, in addition to base, with which the pod's replacement lands
// well in every state. It adds nodes that the scheduler could choose and on which the
// replacement does not help. If it finds no such set, it returns why. Before and after the
// call, the cluster models of the states carry the hints in base.
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

// predictLandings predicts the pod's landing in every state. It returns the landing in the
// last state that accepts it, the nodes to hint, and the reason against it, if any. A reason
// that hints cannot change takes precedence.
func predictLandings(states []*State, pod cluster.PodID, all bool) (l Landing, more []cluster.NodeID, reason plan.Reason) {
	for i, c := range states {
		fresh, r, ok := c.PredictLanding(pod)
		if ok {
			if i > 0 {
				fresh = fresh.worst(l)
			}
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

// unhelpfulNodes returns the nodes on which the replacement may land without helping. With
// all, it adds every node on which it fits without helping and that may be hinted.
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

// unionOf returns the union of two sets of nodes, sorted.
func unionOf(a, b []cluster.NodeID) []cluster.NodeID {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// SteeringOf returns the value of a move's field steer.
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
