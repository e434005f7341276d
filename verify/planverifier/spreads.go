package planverifier

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
)

// checkSpreads checks that no move for a soft strategy makes a group of pods more uneven over the zones than a ZoneSpread
// strategy that is not soft allows. Groups with settings of their own are left out.
func checkSpreads(r *verifier, p plan.Plan) {
	at := map[string]string{} // node by pod
	for k, pod := range r.pods {
		at[k] = pod.Spec.NodeName
	}
	for _, m := range p.Moves {
		own, pod := r.rules.strategyOf(m), r.pods[m.Pod.String()]
		for i := range r.rules.Strategies {
			if s := &r.rules.Strategies[i]; own != nil && own.Soft && pod != nil && s.MaxSkew > 0 && !s.Soft && hasNamespace(r, s, pod.Namespace) {
				checkSpread(r, s, m, at)
			}
		}
		at[m.Pod.String()] = m.To
	}
}

// checkSpread checks the groups of one pod before and after its move.
func checkSpread(r *verifier, s *StrategyRules, m plan.Move, at map[string]string) {
	for name, group := range groupsOf(r, s, r.pods[m.Pod.String()]) {
		zones := zonesOf(r, s, group)
		if len(group) < 2 || len(zones) < 2 || slices.ContainsFunc(group, func(p *corev1.Pod) bool { return hasOwnSpread(r, p) }) {
			continue
		}
		at[m.Pod.String()] = m.From
		was := skew(r, zones, group, at)
		at[m.Pod.String()] = m.To
		if is := skew(r, zones, group, at); is > max(s.MaxSkew, was) {
			r.report(m, WorsensGoal, "the move for strategy %s brings the skew of %s from %d to %d; strategy %s allows %d",
				m.Strategy, name, was, is, s.Name, s.MaxSkew)
		}
	}
}

// groupsOf returns the running pods of the groups to which a pod belongs, by the name of the workload or Service.
func groupsOf(r *verifier, s *StrategyRules, pod *corev1.Pod) map[string][]*corev1.Pod {
	out := map[string][]*corev1.Pod{}
	for _, k := range sortedKeys(r.pods) {
		p := r.pods[k]
		if !r.isBound(p) || isTerminal(p) || isTerminating(p) || p.Namespace != pod.Namespace {
			continue
		}
		if id := r.chains[k].id; !s.ByService && id != "" && id == r.chains[key(pod)].id {
			out[id] = append(out[id], p)
		}
		for _, of := range r.services {
			if s.ByService && of.selects(pod) && of.selects(p) {
				out[of.key] = append(out[of.key], p)
			}
		}
	}
	return out
}

// zonesOf returns the zones in which one of the pods can run, on a node in scope.
func zonesOf(r *verifier, s *StrategyRules, group []*corev1.Pod) (out []string) {
	for _, name := range sortedKeys(r.nodes) {
		n := r.nodes[name]
		if zone := n.Labels[zoneLabel]; zone != "" && isReadyNode(n) && r.selectedByNodeSelector(n) && !r.rules.IsVirtual(n) &&
			(s.NodeSelector == nil || s.NodeSelector.Matches(labels.Set(n.Labels))) &&
			slices.ContainsFunc(group, func(p *corev1.Pod) bool { return fit.Admits(n, fit.PlacedOn(p, name)) }) {
			out = append(out, zone)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// skew returns how many more pods of the group the fullest of the zones has than the emptiest.
func skew(r *verifier, zones []string, group []*corev1.Pod, at map[string]string) int {
	count := make([]int, len(zones))
	for _, p := range group {
		if n := r.nodes[at[key(p)]]; n != nil && slices.Contains(zones, n.Labels[zoneLabel]) {
			count[slices.Index(zones, n.Labels[zoneLabel])]++
		}
	}
	return slices.Max(count) - slices.Min(count)
}

func hasNamespace(r *verifier, s *StrategyRules, name string) bool {
	in := s.NamespaceSelector == nil || r.namespaces[name] != nil && s.NamespaceSelector.Matches(labels.Set(r.namespaces[name].Labels))
	return in && !slices.Contains(s.Exclude, name) && (len(s.Include) == 0 || slices.Contains(s.Include, name))
}

// hasOwnSpread reports whether an annotation changes how ZoneSpread spreads the pod's workload.
func hasOwnSpread(r *verifier, p *corev1.Pod) bool {
	return slices.ContainsFunc(r.annotationRequests(p), func(q request) bool { return q.name == "spread-by" || q.name == "max-skew" })
}
