package planverifier

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
	"github.com/evenkeel-project/evenkeel/verify/spread"
)

// checkSpreads checks that no move for a soft strategy makes a group of pods more uneven than a
// ZoneSpread strategy that is not soft allows. Groups whose pods have different settings of their
// own are left out.
func checkSpreads(r *verifier, p plan.Plan) {
	at := map[string]string{} // node by pod
	for k, pod := range r.before.pods {
		at[k] = pod.Spec.NodeName
	}
	for _, m := range p.Moves {
		own, pod := r.rules.strategyOf(m), r.before.pods[m.Pod.String()]
		for i := range r.rules.Strategies {
			if s := &r.rules.Strategies[i]; own != nil && own.Soft && pod != nil && s.MaxSkew > 0 && !s.Soft && r.before.hasNamespace(s, pod.Namespace) {
				checkSpread(r, s, m, at)
			}
		}
		at[m.Pod.String()] = m.To
	}
}

// checkSpread checks the groups of one pod before and after its move.
func checkSpread(r *verifier, s *StrategyRules, m plan.Move, at map[string]string) {
	for name, group := range r.before.groupsOf(s, r.before.pods[m.Pod.String()]) {
		by, skew, known := spreadOf(r, s, group)
		values := valuesOf(r, s, by, group)
		if !known || len(group) < 2 || len(values) < 2 {
			continue
		}
		at[m.Pod.String()] = m.From
		was := spread.Moves(r.before.podsPerValue(by, values, group, at), skew)
		at[m.Pod.String()] = m.To
		if is := spread.Moves(r.before.podsPerValue(by, values, group, at), skew); is > was {
			r.report(m, WorsensGoal, "after the move for strategy %s, %s needs %d moves until it is spread as strategy %s wants, and %d before",
				m.Strategy, name, is, s.Name, was)
		}
	}
}

// groupsOf returns the running pods of the groups to which a pod belongs, by the name of the workload or Service.
func (w *clusterIndex) groupsOf(s *StrategyRules, pod *corev1.Pod) map[string][]*corev1.Pod {
	out := map[string][]*corev1.Pod{}
	for _, k := range sortedKeys(w.pods) {
		p := w.pods[k]
		if !w.isBound(p) || isTerminal(p) || isTerminating(p) || p.Namespace != pod.Namespace {
			continue
		}
		if id := w.chains[k].id; !s.ByService && id != "" && id == w.chains[key(pod)].id {
			out[id] = append(out[id], p)
		}
		for _, of := range w.services {
			if s.ByService && of.selects(pod) && of.selects(p) {
				out[of.key] = append(out[of.key], p)
			}
		}
	}
	return out
}

// valuesOf returns the values of a node label on which one of the pods can run, on a node in scope to which it may be
// sent.
func valuesOf(r *verifier, s *StrategyRules, by string, group []*corev1.Pod) (out []string) {
	for _, name := range sortedKeys(r.before.nodes) {
		n := r.before.nodes[name]
		if value, has := n.Labels[by]; has && r.rules.countsNode(s, n) &&
			slices.ContainsFunc(group, func(p *corev1.Pod) bool {
				code, _ := r.targets().Pod(p, n)
				return code == "" && fit.Admits(n, fit.PlacedOn(p, name))
			}) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// countsNode reports whether a node is Ready and in the scope of the strategy.
func (r *Rules) countsNode(s *StrategyRules, n *corev1.Node) bool {
	return isReadyNode(n) && r.isInScope(s, n)
}

// isInScope reports whether a node is in the scope of the strategy.
func (r *Rules) isInScope(s *StrategyRules, n *corev1.Node) bool {
	return r.selectedByNodeSelector(n) && !r.IsVirtual(n) && (s.NodeSelector == nil || s.NodeSelector.Matches(labels.Set(n.Labels)))
}

// isNodeInScope is countsNode for the strategy of a name.
func (r *verifier) isNodeInScope(strategy string, n *corev1.Node) bool {
	s := r.rules.strategyOf(plan.Move{Strategy: strategy})
	if s == nil {
		s = &StrategyRules{}
	}
	return r.rules.countsNode(s, n)
}

// podsPerValue counts the pods of the group on each of the values.
func (w *clusterIndex) podsPerValue(by string, values []string, group []*corev1.Pod, at map[string]string) []int {
	count := make([]int, len(values))
	for _, p := range group {
		if n := w.nodes[at[key(p)]]; n != nil && slices.Contains(values, n.Labels[by]) {
			count[slices.Index(values, n.Labels[by])]++
		}
	}
	return count
}

func (w *clusterIndex) hasNamespace(s *StrategyRules, name string) bool {
	in := s.NamespaceSelector == nil || w.namespaces[name] != nil && s.NamespaceSelector.Matches(labels.Set(w.namespaces[name].Labels))
	return in && !slices.Contains(s.Exclude, name) && (len(s.Include) == 0 || slices.Contains(s.Include, name))
}

// spreadOf returns the node label over which a strategy spreads a group, and the skew that it
// allows. Annotations can set both. It returns false if they differ between the pods, or are
// invalid.
func spreadOf(r *verifier, s *StrategyRules, group []*corev1.Pod) (by string, skew int, known bool) {
	for i, p := range group {
		own, most := s.SpreadBy, s.MaxSkew
		for _, q := range r.before.annotationRequests(p) {
			switch n, err := strconv.Atoi(q.value); {
			case q.name == "spread-by":
				own = q.value
			case q.name == "max-skew" && (err != nil || n < 1):
				return "", 0, false
			case q.name == "max-skew":
				most = n
			}
		}
		if i > 0 && (own != by || most != skew) {
			return "", 0, false
		}
		by, skew = own, most
	}
	return by, skew, by != ""
}
