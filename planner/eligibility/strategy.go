package eligibility

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// strategyBars caches which pods one strategy may not move.
type strategyBars struct {
	results []int8 // by pod: 0 not checked, 1 allowed, 2 barred
	reasons map[cluster.PodID]plan.Reason
	guards  *guard.Cache
}

// RefuseFor returns the reason if Evenkeel may not evict the pod for the strategy: the reason of Refuse, or that of
// BarredFor.
func (v *Checker) RefuseFor(strategy int, pod cluster.PodID) (plan.Reason, bool) {
	if r, refused := v.Refuse(pod); refused {
		return r, true
	}
	return v.BarredFor(strategy, pod)
}

// RefuseForAll reports whether Evenkeel may not evict the pod for any of these strategies.
func (v *Checker) RefuseForAll(strategies []int, pod cluster.PodID) bool {
	if known := v.results[pod]; known.checked && known.refused {
		return true // without its reason
	} else if _, refused := v.Refuse(pod); refused {
		return true
	}
	for _, s := range strategies {
		if _, barred := v.BarredFor(s, pod); !barred {
			return false
		}
	}
	return len(strategies) > 0
}

// BarredFor returns the reason if the strategy's own scope, selector or guards bar the pod, or if a
// person discarded the move. It caches the result, and ignores the global rules.
func (v *Checker) BarredFor(strategy int, pod cluster.PodID) (plan.Reason, bool) {
	own := v.options.RulesOf(strategy)
	if own == nil {
		return plan.Reason{}, false
	}
	if v.bars == nil {
		v.bars = make([]strategyBars, len(v.options.Strategies))
	}
	b := &v.bars[strategy]
	if b.results == nil {
		*b = strategyBars{make([]int8, len(v.snapshot.Pods)), map[cluster.PodID]plan.Reason{}, guard.NewCache()}
	}
	if b.results[pod] == 0 {
		r, barred := v.findBar(own, b.guards, &v.snapshot.Pods[pod])
		b.results[pod] = 1
		if barred {
			r.Message = "strategy " + v.options.Strategies[strategy].Name + ": " + r.Message
		} else if d, discarded := own.Discarded[string(v.snapshot.Pods[pod].Object.UID)]; discarded {
			r, barred = plan.Reason{Code: plan.Discarded, Message: d.Message()}, true
		}
		if barred {
			b.results[pod], b.reasons[pod] = 2, r
		}
	}
	return b.reasons[pod], b.results[pod] == 2
}

// findBar applies the rules of one strategy.
func (v *Checker) findBar(own *StrategyRules, cache *guard.Cache, p *cluster.Pod) (plan.Reason, bool) {
	bar := func(code plan.Code, format string, args ...any) (plan.Reason, bool) {
		return plan.Reason{Code: code, Message: fmt.Sprintf(format, args...)}, true
	}
	if s := own.PodSelector; s != nil && !s.Matches(labels.Set(p.Object.Labels)) {
		return bar(plan.PodNotSelected, "podSelector %q does not select the pod", s)
	}
	if ns := p.Object.Namespace; !own.Scope.HasNamespace(v.snapshot, ns) {
		return bar(plan.NamespaceExcluded, "namespace %s is out of its scope (namespaces)", ns)
	}
	if s := own.NodeSelector; s != nil && p.Node != cluster.NoNode {
		if n := v.snapshot.Nodes[p.Node].Object; !s.Matches(labels.Set(n.Labels)) {
			return bar(plan.NodeOutOfScope, "nodeSelector %q does not select node %s", s, n.Name)
		}
	}
	if own.Guards != nil {
		in := v.GuardInput(p)
		in.Options, in.Cache = own.Guards, cache
		if r, refused := guard.Check(in); refused {
			return r, true
		}
	}
	return plan.Reason{}, false
}

// protectionsWithin returns the protections that hold for all moves of a wave: the global ones and
// those of any strategy for which moves are made. They decide which pods may leave together, for
// whatever strategy.
func protectionsWithin(o *Options) map[guard.Protection]bool {
	all := o.Guards.Protect
	for i := range o.Strategies {
		if own := o.Strategies[i].Own; own != nil && own.Guards != nil && o.MovesFor(&o.Strategies[i]) {
			all = maps.Clone(all)
			maps.Copy(all, own.Guards.Protect)
		}
	}
	return all
}

// protects reports whether the protection holds for moves of the strategy.
func (v *Checker) protects(strategy int, p guard.Protection) bool {
	own := v.options.RulesOf(strategy)
	return v.options.Guards.Protect[p] || own != nil && own.Guards != nil && own.Guards.Protect[p]
}
