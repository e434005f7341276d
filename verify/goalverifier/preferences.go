package goalverifier

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
)

// preference is what NodeAffinity or NodeTaints reads about the nodes of one pod. A nil function
// means that the strategy does not look at it.
type preference struct {
	// mustLeave reports whether the pod must leave the node, whatever other nodes are like.
	mustLeave func(n *corev1.Node) bool
	// rank ranks the nodes; higher is better.
	rank func(n *corev1.Node) int
}

func (a arguments) preferenceOf(typ string, p *corev1.Pod) preference {
	switch typ {
	case "NodeAffinity":
		return a.affinityOf(p)
	case "NodeTaints":
		return a.taintsOf(p)
	}
	return preference{}
}

func (a arguments) affinityOf(p *corev1.Pod) (out preference) {
	if a.Required == nil || *a.Required {
		out.mustLeave = func(n *corev1.Node) bool { return !matchesRequired(p, n) }
	}
	if !a.Preferred || p.Spec.Affinity == nil || p.Spec.Affinity.NodeAffinity == nil {
		return out
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err == nil {
		out.rank = func(n *corev1.Node) int { return int(terms.Score(n)) }
	}
	return out
}

func (a arguments) taintsOf(p *corev1.Pod) (out preference) {
	listed := func(t corev1.Taint, list []string) bool {
		return slices.Contains(list, t.Key) || slices.Contains(list, t.Key+"="+t.Value)
	}
	count := func(n *corev1.Node, effect corev1.TaintEffect) (count int) {
		for _, t := range untolerated(p, n.Spec.Taints, effect) {
			mark := a.marks.IsMark(t)
			if hint := strings.HasPrefix(t.Key, "evenkeel.io/"); !hint && (listed(t, a.Include) || len(a.Include) == 0 && !mark && !listed(t, a.Exclude)) {
				count++
			}
		}
		return count
	}
	out.mustLeave = func(n *corev1.Node) bool { return count(n, corev1.TaintEffectNoSchedule) > 0 }
	if a.PreferNoSchedule {
		out.rank = func(n *corev1.Node) int { return -count(n, corev1.TaintEffectPreferNoSchedule) }
	}
	return out
}

// byNode returns the goal about a pod on its node, or nil.
func (r *verifier) byNode(p *corev1.Pod, by preference) *goal {
	here := r.nodes[p.Spec.NodeName]
	if by.mustLeave != nil && by.mustLeave(here) {
		return leave(p, func(node string) bool {
			return node != here.Name && (r.nodes[node] == nil || !by.mustLeave(r.nodes[node]))
		}, "")
	}
	better := r.betterNodes(p, by, here)
	if len(better) == 0 {
		return nil
	}
	return leave(p, func(node string) bool { return better[node] }, "")
}

// betterNodes returns the nodes that rank higher for a pod than this one, and on which it can run.
func (r *verifier) betterNodes(p *corev1.Pod, by preference, than *corev1.Node) map[string]bool {
	better := map[string]bool{}
	if by.rank == nil {
		return better
	}
	own := by.rank(than)
	for name, n := range r.nodes {
		if by.rank(n) > own && r.canRun(p, n) && !r.rules.Plan.IsVirtual(n) {
			better[name] = true
		}
	}
	return better
}

// checkRanks checks that the move of a pod gives no strategy a reason to move it again: the new node
// must not rank lower, unless the strategy has no goal about the pod there, or the pod must leave.
func (r *verifier) checkRanks(m plan.Move) {
	p, to := r.pods[m.Pod.String()], r.nodes[m.To]
	if p == nil || to == nil || r.nodes[p.Spec.NodeName] == nil || isTerminal(p) {
		return
	}
	for _, s := range r.rules.Plan.Strategies {
		limits := !r.rules.Ignored[s.Name] && (r.rulesOf(m.Strategy).Soft || !s.Soft)
		if by := r.preferences[s.Name]; limits && by != nil && r.ranksLower(s, p, by(p), to) {
			r.report(m, WorsensGoal, "strategy %s ranks %s lower than %s, and would move the pod again", s.Name, m.To, p.Spec.NodeName)
		}
	}
}

func (r *verifier) ranksLower(s planverifier.StrategyRules, p *corev1.Pod, by preference, to *corev1.Node) bool {
	from := r.nodes[p.Spec.NodeName]
	wouldMove := func(n *corev1.Node) bool { return r.hasNode(s, n) && len(r.betterNodes(p, by, n)) > 0 }
	switch {
	case by.rank == nil || emptied.BelongsToNode(p) || isTerminating(p) || !r.hasPod(s, p) || !wouldMove(to):
		return false
	case r.hasNode(s, from) && by.mustLeave != nil && by.mustLeave(from):
		return false
	}
	return !wouldMove(from) || by.rank(to) < by.rank(from)
}
