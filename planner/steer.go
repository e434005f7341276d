package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// steering says which nodes may be hinted, and how many at once.
type steering struct {
	kind    hints.Kind
	refused []string // by node: why it must not be hinted, or empty
	most    int
	// standing are nodes that carry the hint in the snapshot already, left by a
	// pass that was killed; they count towards most.
	standing []cluster.NodeID
	// eligible are the nodes that may be hinted and that ordinary pods can go to.
	eligible int
}

func (o Options) steers() bool { return o.Steer == hints.Taint || o.Steer == hints.Label }

func newSteering(s *cluster.Snapshot, o *Options) *steering {
	st := &steering{kind: o.Steer}
	if !o.steers() {
		return st
	}
	st.refused = make([]string, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		st.refused[i] = unhintable(n, o.Guards.Scope)
		if st.refused[i] == "" && open(n) {
			st.eligible++
		}
		if st.kind == hints.Taint && hints.HasTaint(n.Object) || st.kind == hints.Label && hints.HasLabel(n.Object) {
			st.standing = append(st.standing, n.ID)
		}
	}
	st.most = min(int(o.SteerMaxFrac*float64(st.eligible)+rounding), mostHinted)
	return st
}

// mostHinted bounds the nodes that are hinted at once, however large their
// share may be: so many can be written and cleaned up in the time that a
// process has after SIGTERM (controller).
const mostHinted = 100

// candidateTaint marks a node that the cluster autoscaler may remove soon. It
// lets pods in, and its own scores must not be mixed with ours.
const candidateTaint = "DeletionCandidateOfClusterAutoscaler"

func unhintable(n *cluster.Node, scope cluster.Scope) string {
	if who := guard.DisruptedBy(n); who != "" {
		return fmt.Sprintf("node %s is being removed by %s", n.Name, who)
	}
	for i := range n.Object.Spec.Taints {
		if n.Object.Spec.Taints[i].Key == candidateTaint {
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

// leftHints says which nodes carry a hint that nobody takes away any more,
// whether or not this plan steers; empty when none does.
func leftHints(s *cluster.Snapshot, now time.Time) string {
	var nodes []string
	for i := range s.Nodes {
		if h, ours := hints.Of(s.Nodes[i].Object); ours && (h.Expired(now) || h.Expires.IsZero()) {
			nodes = append(nodes, h.Node)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	return fmt.Sprintf("%s still hinted by a run that has ended, and pods avoid them (%s): run `evenkeel hints clear`", nodesWord(len(nodes)), few(nodes))
}

// few names at most maxProblems.
func few(nodes []string) string {
	names := strings.Join(nodes[:min(len(nodes), maxProblems)], ", ")
	if more := len(nodes) - maxProblems; more > 0 {
		names += fmt.Sprintf(", and %d more", more)
	}
	return names
}

// open reports whether pods without tolerations can go to the node.
func open(n *cluster.Node) bool {
	return !n.Object.Spec.Unschedulable && !slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// forbids says why these nodes must not all be hinted at once; empty when they
// may.
func (st *steering) forbids(nodes []cluster.NodeID) string {
	for _, n := range nodes {
		if why := st.refused[n]; why != "" {
			return why
		}
	}
	if all := union(nodes, st.standing); len(all) > st.most {
		if st.most == mostHinted {
			return fmt.Sprintf("%s would be hinted, and no more than %d are at once", nodesWord(len(all)), mostHinted)
		}
		return fmt.Sprintf("%s would be hinted, and evictor.steerMaxFrac allows %d of %d", nodesWord(len(all)), st.most, st.eligible)
	}
	return ""
}

func nodesWord(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// deaf says why no hint reaches the pod.
func (st *steering) deaf() string {
	if st.kind == hints.Label {
		return "it has no node affinity that looks at the label " + hints.Key
	}
	return "it tolerates the taint " + hints.Key
}

// place is land, and where the replacement would come back or its place is not
// sure, it looks for hints on nodes that turn the balance.
func (c *scene) place(pod cluster.PodID) (landing, plan.Reason, bool) {
	l, reason, ok := c.land(pod)
	if ok || !c.opts.steers() || !steerable(reason.Code) {
		return l, reason, ok
	}
	steered, why := steer([]*scene{c}, pod, nil)
	if why != "" {
		reason.Message += "; not steered: " + why
		again, _, _ := c.land(pod) // what was predicted with hints took its place
		l.predicted = again.predicted
		return l, reason, false
	}
	return steered, plan.Reason{}, true
}

// steerable: the pod may leave and could land well, only not surely enough.
func steerable(code plan.Code) bool { return code == plan.WouldReturn || code == plan.UncertainLanding }

// steerRounds is how often the nodes that would then win are hinted too. After
// that all nodes on which the replacement does not help are.
const steerRounds = 2

// steer finds nodes to hint, beside base, so that the replacement of the pod
// lands well in every one of the states: those that could win without helping,
// as long as there are any. It says why when there are no such nodes. The hints
// of the states' worlds are base before and after.
func steer(states []*scene, pod cluster.PodID, base []cluster.NodeID) (landing, string) {
	c := states[0]
	st := c.steer
	if !c.world.Hears(pod, st.kind) {
		return landing{}, st.deaf()
	}
	defer hint(states, base)
	for round, hinted := 0, base; ; round++ {
		hint(states, hinted)
		l, more, reason := landings(states, pod, round >= steerRounds)
		switch {
		case reason.Code == "":
			l.hinted, l.steered = hinted, true
			return l, ""
		case !steerable(reason.Code):
			return landing{}, reason.Message
		}
		next := union(hinted, more)
		if len(next) == len(hinted) || round > steerRounds {
			return landing{}, "a hint would not be enough"
		}
		if why := st.forbids(next); why != "" {
			return landing{}, why
		}
		hinted = next
	}
}

// landings lands the pod in every state. It returns the landing in the last,
// the nodes that should be hinted, and the first reason against it.
func landings(states []*scene, pod cluster.PodID, all bool) (l landing, more []cluster.NodeID, reason plan.Reason) {
	for _, c := range states {
		fresh, r, ok := c.land(pod)
		if ok {
			l = fresh
			continue
		}
		if reason.Code == "" || !steerable(r.Code) {
			reason = r
		}
		more = union(more, c.unhelpful(pod, all))
	}
	return l, more, reason
}

// unhelpful are the nodes on which the replacement may land without helping;
// with all, those on which it fits without helping and that may be hinted.
func (c *scene) unhelpful(pod cluster.PodID, all bool) []cluster.NodeID {
	from := c.world.NodeOf(pod)
	pr := c.world.Predict(pod)
	nodes := pr.Possible()
	if all {
		nodes = union(nodes, slices.DeleteFunc(slices.Clone(pr.Gone.Feasible), func(n cluster.NodeID) bool { return c.steer.refused[n] != "" }))
	}
	places := c.goals.arrivals(pod, from)
	return slices.DeleteFunc(nodes, func(n cluster.NodeID) bool { return n != from && !c.goals.pressed[n] && places.serve(n) })
}

func hint(states []*scene, nodes []cluster.NodeID) {
	for _, c := range states {
		c.world.Hint(c.steer.kind, nodes)
	}
}

// union of two sets of nodes, sorted.
func union(a, b []cluster.NodeID) []cluster.NodeID {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// steered is what a move's field steer says.
func (c *scene) steered(l landing) string {
	if l.steered {
		return string(c.steer.kind)
	}
	return string(hints.None)
}

func (c *scene) waveHints(wave int, nodes []cluster.NodeID) plan.WaveHints {
	h := plan.WaveHints{Wave: wave, Kind: string(c.steer.kind)}
	for _, n := range nodes {
		h.Nodes = append(h.Nodes, c.s.Nodes[n].Name)
	}
	return h
}
