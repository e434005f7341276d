// Package nodetaints states one goal for each pod on a node with a taint that the pod does not
// tolerate: the pod leaves. The taint was added, or the toleration removed, after the pod was
// scheduled.
//
// The package decides which taints count and which pods do not tolerate them. It ignores taints
// with the effect NoExecute, because Kubernetes itself evicts pods because of them, the hints
// of Evenkeel, and the marks that other programs put on nodes, unless the arguments name them.
// It never decides where a replacement lands.
package nodetaints

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/ranking"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy. At most one list may have elements.
type Args struct {
	// PreferNoSchedule makes taints with the effect PreferNoSchedule count, too. Such a pod leaves only for a node with
	// fewer of them.
	PreferNoSchedule bool `json:"preferNoSchedule"`
	// Include lists the taints that count, as key or key=value. If it is empty, all taints count except marks of nodes
	// (package nodemarks).
	Include []string `json:"include"`
	// Exclude lists taints that do not count.
	Exclude []string `json:"exclude"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	var a Args
	errs := arg.Decode(raw, &a)
	if len(errs) == 0 {
		errs = a.check(scope.Hints)
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals}, errs
}

// violation is a pod that should leave.
type violation struct {
	pod    *cluster.Pod
	taint  *corev1.Taint
	better *ranking.Better // nil: the taint has the effect NoSchedule
}

// goals returns one unmet PodAway goal for each pod that does not tolerate a taint of its node, in
// the order of evictions. If taints with the effect PreferNoSchedule count, one more goal keeps other
// moves from landing pods on nodes with more of them. goals takes O(pods + classes * nodes) steps,
// where pods with equal node constraints form a class.
func (t *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	x := t.newIndex(s)
	kept := x.nodes.NewKept()
	var found []violation
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node == cluster.NoNode || !x.someSoft && !x.isTainted(p.Node) || !x.nodes.HasPod(p) {
			continue
		}
		inScope := x.nodes.InScope(p.Node)
		if taint := firstUntolerated(p.Object, x.hard[p.Node]); inScope && taint != nil { // every other node is better
			found = append(found, violation{p, taint, nil})
			continue
		}
		if !x.someSoft {
			continue
		}
		kept.Add(p, x.ranking(p))
		if taint := firstUntolerated(p.Object, x.soft[p.Node]); inScope && taint != nil {
			if b := x.ranking(p).Better(p.Node); b != nil {
				found = append(found, violation{p, taint, b})
			}
		}
	}
	cluster.SortForEviction(found, s.TakenAt, func(v *violation) *cluster.Pod { return v.pod })
	goals := make([]plan.Goal, len(found))
	for i, v := range found {
		var targets []bool
		message := s.Nodes[v.pod.Node].Name + " has the taint " + v.taint.ToString() + ", which " +
			v.pod.Object.Namespace + "/" + v.pod.Object.Name + " does not tolerate"
		if v.better != nil {
			targets = v.better.Targets
			message += "; " + plural.Count(v.better.Count, "other node") + plural.Choose(v.better.Count, " has", " have") + " fewer such taints"
		}
		goals[i] = ranking.Goal(t.name, v.pod, targets, plan.Reason{Code: plan.TaintNotTolerated, Message: message})
	}
	return append(goals, kept.Goals(t.name)...)
}

// index holds the taints that count, and what pods share.
type index struct {
	nodes      *ranking.Nodes
	hard, soft [][]corev1.Taint // by node: those with the effects NoSchedule and PreferNoSchedule
	someSoft   bool             // some node has taints in soft
	groups     *ranking.Groups  // by soft; nil: not computed
	rankings   ranking.Classes[ranking.Ranking]
}

func (t *configuredStrategy) newIndex(s *cluster.Snapshot) *index {
	nodes := ranking.NewNodes(s, t.scope)
	x := &index{nodes: nodes, rankings: ranking.NewClasses[ranking.Ranking](nodes)}
	x.hard, x.soft = make([][]corev1.Taint, len(s.Nodes)), make([][]corev1.Taint, len(s.Nodes))
	for i, n := range x.nodes.List {
		for _, taint := range n.Object.Spec.Taints {
			switch {
			case !t.counts(&taint):
			case taint.Effect == corev1.TaintEffectNoSchedule:
				x.hard[i] = append(x.hard[i], taint)
			case taint.Effect == corev1.TaintEffectPreferNoSchedule && t.args.PreferNoSchedule:
				x.soft[i], x.someSoft = append(x.soft[i], taint), true
			}
		}
	}
	return x
}

func (x *index) isTainted(n cluster.NodeID) bool { return len(x.hard[n])+len(x.soft[n]) > 0 }

// ranking returns the nodes, ranked by the taints with the effect PreferNoSchedule that the pod does not tolerate: the
// fewer, the higher.
func (x *index) ranking(p *cluster.Pod) *ranking.Ranking {
	if x.groups == nil {
		x.groups = x.nodes.GroupBy(func(b []byte, n *cluster.Node) []byte { return ranking.AppendTaints(b, x.soft[n.ID]) })
	}
	return x.rankings.Of(p, func() *ranking.Ranking {
		ofGroup, ranks := make([]int64, len(x.groups.First)), make([]int64, len(x.soft))
		for i, n := range x.groups.First {
			for j := range x.soft[n.ID] {
				if !filter.ToleratesTaint(p.Object, &x.soft[n.ID][j]) {
					ofGroup[i]--
				}
			}
		}
		for n, g := range x.groups.Of {
			ranks[n] = ofGroup[g]
		}
		return x.nodes.New(p, ranks)
	})
}

// firstUntolerated returns the first taint that the pod does not tolerate, or nil.
func firstUntolerated(p *corev1.Pod, taints []corev1.Taint) *corev1.Taint {
	for i := range taints {
		if !filter.ToleratesTaint(p, &taints[i]) {
			return &taints[i]
		}
	}
	return nil
}
