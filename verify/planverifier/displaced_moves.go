package planverifier

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
)

// Codes for moves without a purpose.
const (
	PurposelessMove plan.Code = "PurposelessMove" // the move contributes to no goal and frees no room for another move
	RoomNotUsed     plan.Code = "RoomNotUsed"     // the move that needs the room does not follow
)

// checkDisplacedMoves checks the purpose of every move. A move must contribute to one of its goals,
// or it must free room for a move in a later wave that does.
func (r *verifier) checkDisplacedMoves(p plan.Plan) {
	for _, m := range p.Moves {
		if m.DisplacedFor == nil {
			if !r.contributesToGoal(p, m) {
				r.report(m, PurposelessMove, "the move from %[2]s to %[3]s contributes to none of the goals %[1]v", m.Goals, m.From, m.To)
			}
			continue
		}
		k := slices.IndexFunc(p.Moves, func(x plan.Move) bool { return x.Pod.UID == m.DisplacedFor.UID })
		switch {
		case k < 0:
			r.report(m, RoomNotUsed, "it makes room for %s, but the plan does not move that pod", m.DisplacedFor)
		case p.Moves[k].Wave <= m.Wave:
			r.report(m, RoomNotUsed, "%s is in wave %d, not after wave %d", m.DisplacedFor, p.Moves[k].Wave, m.Wave)
		case m.DisplacedFor.Namespace != m.Pod.Namespace && !r.rules.DisplaceAcrossNamespaces:
			r.report(m, PurposelessMove, "it makes room for %s, of another namespace", m.DisplacedFor)
		case p.Moves[k].To != m.From:
			r.report(m, RoomNotUsed, "%s moves to %s, but the move makes room on %s", m.DisplacedFor, p.Moves[k].To, m.From)
		case p.Moves[k].DisplacedFor != nil || !slices.ContainsFunc(m.Goals, func(g string) bool { return slices.Contains(p.Moves[k].Goals, g) }):
			r.report(m, PurposelessMove, "the move of %s contributes to none of the goals %v", m.DisplacedFor, m.Goals)
		case slices.ContainsFunc(p.Goals, func(g plan.Goal) bool { return slices.Contains(p.Moves[k].Goals, g.ID) && leavesGroup(r, g, m) }):
			r.report(m, PurposelessMove, "it leaves the domains that the goals %v count", m.Goals)
		}
	}
}

// contributesToGoal reports whether a move can contribute to one of its goals. For a node goal, the
// pod must leave that node and use the goal's resource. For a goal about a group, the pod must
// belong to the group, leave a node that the goal counts, and land in another domain that it counts.
// For a goal about anti-affinity, the pod must be in conflict with another pod. For a topology spread
// constraint, the pod must leave its node and be in the namespace. A goal about a pod needs a move of
// that pod, to another node unless the replacement may return.
func (r *verifier) contributesToGoal(p plan.Plan, m plan.Move) bool {
	pod := r.before.pods[m.Pod.String()]
	if pod == nil {
		return true // checkMoveFields reports it
	}
	return slices.ContainsFunc(p.Goals, func(g plan.Goal) bool {
		switch {
		case !slices.Contains(m.Goals, g.ID):
			return false
		case g.Kind == plan.NodeBelow && g.Basis == plan.BasisLoad:
			return m.From == g.Subject.Name && hasUsage(r.before.objects, pod, g.Resource)
		case g.Kind == plan.NodeBelow:
			return m.From == g.Subject.Name && requestsResource(pod, g.Resource)
		case g.Kind == plan.PodAway:
			return isSubject(g, m) && (g.MayReturn || m.From != m.To)
		case g.Kind == plan.PodsApart:
			return r.before.inConflict(pod)
		case g.Kind == plan.NodeEmpty:
			return m.From == g.Subject.Name
		case r.rules.byConstraint(g):
			return m.From != m.To && m.Pod.Namespace == g.Subject.Namespace
		}
		return r.before.domain(m.From, g) != r.before.domain(m.To, g) && r.before.inGroup(pod, g.Subject) &&
			(m.WithoutPlace() || countsDomain(r, g, m.To)) && countsPodsOn(r, g, m.From)
	})
}

// countsPodsOn reports whether a goal about a group counts the pods on a node. Duplicates counts only
// those on nodes in scope.
func countsPodsOn(r *verifier, g plan.Goal, node string) bool {
	s, n := r.rules.strategyOf(plan.Move{Strategy: g.Strategy}), r.before.nodes[node]
	return g.Kind != plan.CountAtMost || s == nil || !s.CountsScope || n == nil || r.rules.isInScope(s, n)
}

// countsDomain reports whether a goal about a group counts the domain of a node. The node must have the topology key.
// ZoneSpread and Duplicates count only domains with a node in scope on which one of the group's pods can run.
func countsDomain(r *verifier, g plan.Goal, node string) bool {
	domain := r.before.domain(node, g)
	s := r.rules.strategyOf(plan.Move{Strategy: g.Strategy})
	if domain == "" || s == nil || !s.CountsScope {
		return domain != ""
	}
	for name, n := range r.before.nodes {
		if n.Labels[g.TopologyKey] != domain || !r.rules.countsNode(s, n) {
			continue
		}
		for _, p := range r.before.pods {
			if r.before.inGroup(p, g.Subject) && fit.Admits(n, fit.PlacedOn(p, name)) {
				return true
			}
		}
	}
	return false
}

// leavesGroup reports whether the pod of a move belongs to the group of a goal and lands in a
// domain that the goal does not count.
func leavesGroup(r *verifier, g plan.Goal, m plan.Move) bool {
	pod := r.before.pods[m.Pod.String()]
	return (g.Kind == plan.SkewAtMost || g.Kind == plan.CountAtMost) && pod != nil && r.before.inGroup(pod, g.Subject) && !countsDomain(r, g, m.To)
}

// byConstraint reports whether a goal is that of a topology spread constraint.
func (r *Rules) byConstraint(g plan.Goal) bool {
	s := r.strategyOf(plan.Move{Strategy: g.Strategy})
	return s != nil && s.ByConstraint
}

// inConflict reports whether a required anti-affinity term of the pod or of another running pod is
// violated in the pod's domain.
func (w *clusterIndex) inConflict(pod *corev1.Pod) bool {
	for _, q := range w.pods {
		if q != pod && q.DeletionTimestamp == nil && q.Status.Phase != corev1.PodSucceeded && q.Status.Phase != corev1.PodFailed &&
			w.nodes[q.Spec.NodeName] != nil && (w.fit.Excludes(pod, q) || w.fit.Excludes(q, pod)) {
			return true
		}
	}
	return false
}

// isSubject reports whether a goal is about the pod of a move on its present node.
func isSubject(g plan.Goal, m plan.Move) bool {
	return g.Kind == plan.PodAway && g.Subject.Kind == "Pod" && g.Subject.Namespace == m.Pod.Namespace &&
		g.Subject.Name == m.Pod.Name && g.From == m.From
}

// mayReturn reports whether a replacement may run on the node that its pod left: the move serves a
// goal about the pod that allows it.
func (r *verifier) mayReturn(m plan.Move) bool {
	return slices.ContainsFunc(r.goals, func(g plan.Goal) bool {
		return g.MayReturn && slices.Contains(m.Goals, g.ID) && isSubject(g, m)
	})
}

func (w *clusterIndex) domain(node string, g plan.Goal) string {
	if n := w.nodes[node]; n != nil {
		return n.Labels[g.TopologyKey]
	}
	return ""
}

// inGroup reports whether a pod belongs to a workload or is selected by a Service.
func (w *clusterIndex) inGroup(pod *corev1.Pod, of plan.ObjectRef) bool {
	if of.Kind == "Service" {
		return slices.ContainsFunc(w.services, func(s service) bool { return s.key == of.Namespace+"/"+of.Name && s.selects(pod) })
	}
	top := w.chains[key(pod)].top()
	return top != nil && top.kind == of.Kind && top.name == of.Name && pod.Namespace == of.Namespace
}
