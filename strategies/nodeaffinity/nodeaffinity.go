// Package nodeaffinity states one goal for each pod on a node that its node affinity does not want: the pod leaves. The
// labels of the node changed after the pod was scheduled, or a node that the pod prefers was full or missing then.
//
// The package decides which pods violate their required node affinity or their node selector, and
// for which pods another node matches more of the preferred node affinity. It never decides whether
// the scheduler would choose that node; the planner predicts it, and a pod that would land anywhere
// else stays.
package nodeaffinity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/ranking"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// Args are the arguments of the strategy. At least one of them is true.
type Args struct {
	// Required is about pods whose node no longer matches their node selector or their required node affinity.
	Required bool `json:"required"`
	// Preferred is about pods for which another node matches terms of the preferred node affinity with a greater sum of
	// weights.
	Preferred bool `json:"preferred"`
}

// configuredStrategy is the strategy with its arguments.
type configuredStrategy struct {
	name  string
	args  Args
	scope cluster.Scope
}

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{Required: true}
	errs := arg.Decode(raw, &a)
	if len(errs) == 0 && !a.Required && !a.Preferred {
		errs = append(errs, arg.Error{Message: "want required: true or preferred: true"})
	}
	i := configuredStrategy{name, a, scope}
	return strategy.Strategy{Goals: i.goals}, errs
}

// violation is a pod that should leave.
type violation struct {
	pod    *cluster.Pod
	class  *class
	better *ranking.Better // nil: the node does not match what the pod requires
}

// goals returns one unmet PodAway goal for each pod that should leave its node, in the order of evictions. If preferred
// node affinity counts, one more goal keeps other moves from landing pods on nodes that they prefer less. goals takes
// O(pods + classes * nodes * preferred terms) steps, where pods with equal node constraints form a class.
func (a *configuredStrategy) goals(s *cluster.Snapshot) []plan.Goal {
	var found []violation
	x := newIndex(s, a.scope)
	kept := x.nodes.NewKept()
	for i := range s.Pods {
		p := &s.Pods[i]
		if !isConstrained(&p.Object.Spec) || !x.nodes.HasPod(p) {
			continue
		}
		c := x.class(p, a.args.Preferred)
		inScope := x.nodes.InScope(p.Node)
		if inScope && a.args.Required && c.violates(p.Node) { // every other node is better
			found = append(found, violation{p, c, nil})
			continue
		}
		kept.Add(p, c.ranking)
		if b := c.better(p.Node); inScope && b != nil {
			found = append(found, violation{p, c, b})
		}
	}
	cluster.SortForEviction(found, s.TakenAt, func(v *violation) *cluster.Pod { return v.pod })
	goals := make([]plan.Goal, len(found))
	for i, v := range found {
		n := x.nodes.List[v.pod.Node].Object
		if v.better == nil {
			goals[i] = ranking.Goal(a.name, v.pod, nil, plan.Reason{
				Code: plan.NodeAffinityViolated, Message: violationMessage(v.pod.Object, n)})
			continue
		}
		goals[i] = ranking.Goal(a.name, v.pod, v.better.Targets, plan.Reason{
			Code: plan.BetterNodeExists, Message: betterMessage(v.pod.Object, n, v.class.ranking.Rank(v.pod.Node), v.better)})
	}
	return append(goals, kept.Goals(a.name)...)
}

// isConstrained reports whether the pod has a node selector or a node affinity.
func isConstrained(s *corev1.PodSpec) bool {
	return len(s.NodeSelector) > 0 || s.Affinity != nil && s.Affinity.NodeAffinity != nil
}

// maxShownLabels limits the labels in a message.
const maxShownLabels = 3

func violationMessage(p *corev1.Pod, n *corev1.Node) string {
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(p.Spec.NodeSelector)) {
		if want := p.Spec.NodeSelector[key]; n.Labels[key] != want || !hasLabel(n, key) {
			missing = append(missing, key+"="+want)
		}
	}
	pod := p.Namespace + "/" + p.Name
	if len(missing) == 0 {
		return fmt.Sprintf("%s does not match the required node affinity of %s", n.Name, pod)
	}
	if len(missing) > maxShownLabels {
		missing = append(missing[:maxShownLabels], "...")
	}
	return fmt.Sprintf("%s does not match the node selector of %s: %s", n.Name, pod, strings.Join(missing, ","))
}

func hasLabel(n *corev1.Node, key string) bool {
	_, ok := n.Labels[key]
	return ok
}

func betterMessage(p *corev1.Pod, n *corev1.Node, rank int64, b *ranking.Better) string {
	return n.Name + " scores " + strconv.FormatInt(rank, 10) + " for the preferred node affinity of " + p.Namespace + "/" + p.Name + ", and " +
		plural.Count(b.Count, "other node") + plural.Choose(b.Count, " scores", " score") + " up to " + strconv.FormatInt(b.Best, 10)
}
