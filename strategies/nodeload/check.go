package nodeload

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
)

// New creates the strategy called name from its arguments (JSON), and returns all errors of the arguments.
func New(name string, raw []byte, scope cluster.Scope) (strategy.Strategy, []arg.Error) {
	a := Args{Basis: string(plan.BasisRequests), For: 1}
	errs := arg.Decode(raw, &a)
	fail := func(path, message string) { errs = append(errs, arg.Error{Path: path, Message: message}) }
	l := &configuredStrategy{name: name, args: a, scope: scope, pools: newPools(&a)}
	if a.Basis != string(plan.BasisRequests) && a.Basis != string(plan.BasisLoad) {
		fail("basis", fmt.Sprintf("%q is unknown (want requests or load)", a.Basis))
	}
	switch {
	case a.For < 1:
		fail("for", fmt.Sprintf("%d is too small (want 1 or more samples)", a.For))
	case a.For > 1 && !l.usesLoad():
		fail("for", "counts samples of usage, but basis is requests (want basis: load, or for: 1)")
	}
	sel, err := labels.Parse(a.Selector)
	switch {
	case err != nil:
		fail("selector", fmt.Sprintf("%q is not a label selector: %v", a.Selector, err))
	case !sel.Empty():
		l.selector = sel
	}
	if a.For > 1 && l.selector != nil {
		fail("for", "counts samples of whole nodes, but selector counts only some of their pods; "+
			"the combination is not supported (want for: 1, or no selector)")
	}
	if len(a.When) > 0 && !l.usesLoad() {
		fail("when", "compares measured usage, but basis is requests (want basis: load, or no when)")
	} else {
		errs = append(errs, l.checkFractions("when", a.When)...)
	}
	if !arg.Reported(errs, "pools") {
		for i := range l.pools {
			errs = append(errs, l.checkPool(i)...)
		}
	}
	return strategy.Strategy{Goals: l.goals, Requirements: l.requirements(), Usage: l.usageNeeds(), WhyUnknown: l.whyUnknown}, errs
}

// checkPool checks the levels of a pool, and its selector. With pools, the other nodes need no levels.
func (l *configuredStrategy) checkPool(i int) []arg.Error {
	p := &l.pools[i]
	errs := l.checkNodes(i)
	others := p.selector == nil && len(l.pools) > 1 && len(p.Below)+len(p.BelowMean)+p.NumberOfNodes == 0
	switch given := len(p.Target) + len(p.Deviation); {
	case given == 0 && !others || len(p.Target) > 0 && len(p.Deviation) > 0:
		errs = append(errs, arg.Errorf(strings.TrimSuffix(p.path, "."),
			"want either target or deviation, with at least one resource, such as target: {cpu: 0.80}"))
	case l.args.For > 1 && len(p.Deviation) > 0 && len(l.pools) > 1:
		errs = append(errs, arg.Errorf("for", "counts samples above the mean of all nodes in scope, "+
			"but the mean of a pool is that of its nodes; the combination is not supported (want for: 1, or target)"))
	}
	errs = append(errs, l.checkFractions(p.path+"target", p.Target)...)
	errs = append(errs, l.checkFractions(p.path+"deviation", p.Deviation)...)
	return append(errs, p.checkUnderUtilized()...)
}

// checkNodes checks that a pool selects nodes by label, and not the same ones as an earlier pool.
func (l *configuredStrategy) checkNodes(i int) []arg.Error {
	p := &l.pools[i]
	if p.selector == nil {
		return nil
	}
	path := p.path + "nodeSelector"
	_, err := labels.Parse(p.NodeSelector)
	switch same := slices.IndexFunc(l.pools, func(q pool) bool { return q.NodeSelector == p.NodeSelector }); {
	case p.NodeSelector == "":
		return []arg.Error{arg.Errorf(path, "is missing (want a label selector for nodes, such as pool=burst)")}
	case err != nil:
		return []arg.Error{arg.Errorf(path, "%q is not a label selector: %v", p.NodeSelector, err)}
	case same < i:
		return []arg.Error{arg.Errorf(path, "is the same as that of pools[%d], which gets the nodes (remove one of the pools)", same)}
	}
	return nil
}

// checkFractions checks the targets or the deviations of a pool.
func (l *configuredStrategy) checkFractions(field string, m map[string]float64) []arg.Error {
	var errs []arg.Error
	for _, r := range sortedKeys(m) {
		path := field + "." + r
		switch {
		case !l.usesLoad(): // with basis load, any resource that the source measures is allowed
			errs = append(errs, arg.Resource(path, r)...)
		case r == cluster.MemoryAvailable:
			errs = append(errs, arg.Errorf(path, "is free memory, not used memory (want memory, or a hint rule with below)"))
		}
		errs = append(errs, arg.Fraction(path, m[r])...)
	}
	return errs
}

// checkUnderUtilized checks the arguments about under-utilized nodes.
func (p *pool) checkUnderUtilized() []arg.Error {
	var errs []arg.Error
	fail := func(field, format string, v ...any) { errs = append(errs, arg.Errorf(p.path+field, format, v...)) }
	switch below := len(p.Below) + len(p.BelowMean); {
	case p.NumberOfNodes < 0:
		fail("numberOfNodes", "%d is too small (want 0 or more)", p.NumberOfNodes)
	case p.NumberOfNodes > 0 && below == 0:
		fail("numberOfNodes", "counts under-utilized nodes, but below is not set "+
			"(want below, such as below: {cpu: 0.20}, or belowMean)")
	case len(p.Below) > 0 && len(p.BelowMean) > 0:
		fail("belowMean", "is set together with below (want one of them)")
	}
	for _, r := range sortedKeys(p.Below) {
		if target, ok := p.Target[r]; ok && p.Below[r] > target && p.Below[r] <= 1 {
			fail("below."+r, "%v is above %starget.%s, %v (want at most the target)", p.Below[r], p.path, r, target)
		}
	}
	errs = append(errs, p.checkLowLevels("below", p.Below)...)
	return append(errs, p.checkLowLevels("belowMean", p.BelowMean)...)
}

func (p *pool) checkLowLevels(field string, levels map[string]float64) []arg.Error {
	var errs []arg.Error
	if len(p.resources()) == 0 {
		return nil // checkPool reports this
	}
	for _, r := range sortedKeys(levels) {
		path := p.path + field + "." + r
		if !slices.Contains(p.resources(), r) {
			want := strings.Join(p.resources(), ", ")
			errs = append(errs, arg.Errorf(path, "the resource has no target or deviation (want %s)", want))
			continue
		}
		errs = append(errs, arg.Fraction(path, levels[r])...)
	}
	return errs
}
