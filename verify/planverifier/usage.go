package planverifier

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Codes for violations by strategies that act on measured usage.
const (
	UsageUnknown    plan.Code = "LoadNotKnown" // of the source node, the target node or too many nodes
	SamplesMissing  plan.Code = "LoadNotYet"   // the node is not above its target for enough samples
	UsageNotLowered plan.Code = "LoadTooHigh"  // the usage of the pod would bring its target node above the target
)

// measuredUsage holds the known usage of one resource. New pods without a measurement are not included.
type measuredUsage struct {
	used map[string]int64 // by node; nodes without known usage are absent
	pods map[string]int64 // by namespace/name; only measured pods
}

// checkUsage checks each move against the usage strategies and then shifts the pod's measured usage
// to its target node.
func (r *verifier) checkUsage(p plan.Plan) {
	for _, rule := range r.rules.UsageStrategies {
		g := r.measureUsage(rule.Resource)
		enough := r.hasCoverage(g)
		for signal := range rule.When {
			enough = enough && r.hasCoverage(r.measureUsage(signal))
		}
		for _, m := range p.Moves {
			r.checkUsageMove(rule, g, m, enough)
			use := g.pods[m.Pod.String()]
			if _, known := g.used[m.From]; known {
				g.used[m.From] -= use
			}
			if _, known := g.used[m.To]; known {
				g.used[m.To] += use
			}
		}
	}
}

func (r *verifier) checkUsageMove(rule UsageStrategy, g measuredUsage, m plan.Move, enough bool) {
	use, measured := g.pods[m.Pod.String()]
	_, from := g.used[m.From]
	_, to := g.used[m.To]
	if m.Strategy == rule.Strategy && len(r.rules.UsageStrategies) == 1 {
		switch {
		case !measured:
			r.report(m, plan.UsageUnknown, "its %s usage is unknown", rule.Resource)
		case !from || !to || !enough:
			r.report(m, UsageUnknown, "%s usage: node %s known %v, node %s known %v, enough nodes known %v", rule.Resource, m.From, from, m.To, to,
				enough)
		case rule.For > 1 && m.DisplacedFor == nil && !r.aboveTargetLongEnough(rule, m.From):
			r.report(m, SamplesMissing, "%s is not above its target for %d samples in a row", m.From, rule.For)
		}
		for resource, level := range rule.When {
			use, known := r.measureUsage(resource).used[m.From]
			if m.DisplacedFor == nil && (!known || float64(use) <= level*float64(usageTotal(r.before.nodes[m.From], resource))) {
				r.report(m, plan.SignalTooLow, "%s does not use more than %v of its %s", m.From, level, resource)
			}
		}
	}
	// No move may bring its target node above the target, even if the move belongs to another strategy, or the node has
	// no goal. If the strategy has a nodeSelector of its own, nodes without a goal limit only its own moves.
	s := r.rules.strategyOf(plan.Move{Strategy: rule.Strategy})
	if n := r.before.nodes[m.To]; m.From != m.To && to && enough && use > 0 &&
		(m.Strategy == rule.Strategy || s == nil || s.NodeSelector == nil || r.rules.hasTarget(s, n)) {
		if limit := rule.Target * float64(usageTotal(n, rule.Resource)); float64(g.used[m.To]+use) > limit+1 {
			r.report(m, UsageNotLowered, "%s would use %d of its %s, more than %.0f", m.To, g.used[m.To]+use, rule.Resource, limit)
		}
	}
}

func amountIn(list *corev1.ResourceList, resource string) int64 {
	if resource == "cpu" {
		return list.Cpu().MilliValue()
	}
	return list.Memory().Value()
}

// usageTotal returns the amount that is all of a resource. Usage of resources other than cpu and
// memory is in millionths.
func usageTotal(n *corev1.Node, resource string) int64 {
	if resource == "cpu" || resource == "memory" {
		total := amountIn(&n.Status.Allocatable, resource)
		if capacity := amountIn(&n.Status.Capacity, resource); capacity > 0 {
			total = min(total, capacity)
		}
		return total
	}
	return 1_000_000
}

// hasCoverage reports whether usage is known for enough of the nodes in scope.
func (r *verifier) hasCoverage(g measuredUsage) bool {
	known, all := 0, 0
	for name, n := range r.before.nodes {
		if !r.rules.selectedByNodeSelector(n) || r.rules.IsVirtual(n) {
			continue
		}
		all++
		if _, ok := g.used[name]; ok {
			known++
		}
	}
	return known > 0 && float64(known)+1e-9 >= r.rules.MinCoverage*float64(all)
}

func (r *verifier) aboveTargetLongEnough(rule UsageStrategy, node string) bool {
	return slices.ContainsFunc(r.before.objects.Usage.Marks, func(m cluster.Mark) bool {
		return m.Watch == rule.Strategy && m.Node == node && m.Resource == rule.Resource && m.Hot
	})
}

func (r *verifier) measureUsage(resource string) measuredUsage {
	g := measuredUsage{map[string]int64{}, map[string]int64{}}
	if r.before.objects.Usage == nil {
		return g
	}
	for _, n := range r.before.objects.Usage.Nodes {
		if use, ok := n.Used[resource]; ok && r.before.nodes[n.Name] != nil && r.before.now.Sub(n.At) <= r.rules.MaxAge {
			g.used[n.Name] = use
		}
	}
	for _, m := range r.before.objects.Usage.Pods {
		use, ok := m.Used[resource]
		if !ok {
			continue
		}
		p := r.before.pods[m.Namespace+"/"+m.Name]
		if p != nil && string(p.UID) == m.UID && !isTerminal(p) && p.Spec.NodeName == m.Node && !r.before.leavesByItself(p) {
			g.pods[key(p)] = use
		} else if _, known := g.used[m.Node]; known {
			g.used[m.Node] = max(0, g.used[m.Node]-use)
		}
	}
	return g
}

// hasUsage reports whether the pod's measured usage of the resource is above 0.
func hasUsage(o *cluster.Objects, p *corev1.Pod, resource string) bool {
	return o.Usage != nil && slices.ContainsFunc(o.Usage.Pods, func(m cluster.PodUsage) bool {
		return m.Namespace == p.Namespace && m.Name == p.Name && m.UID == string(p.UID) && m.Used[resource] > 0
	})
}
