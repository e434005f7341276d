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
	l := &configuredStrategy{name: name, args: a, scope: scope}
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
	errs = append(errs, l.checkLevels()...)
	return strategy.Strategy{Goals: l.goals, Requirements: l.requirements(), Usage: l.usageNeeds(), WhyUnknown: l.whyUnknown}, errs
}

// checkLevels checks the levels of nodes.
func (l *configuredStrategy) checkLevels() []arg.Error {
	a := &l.args
	var errs []arg.Error
	if (len(a.Target) > 0) == (len(a.Deviation) > 0) {
		errs = append(errs, arg.Errorf("", "want either target or deviation, with at least one resource, such as target: {cpu: 0.80}"))
	}
	errs = append(errs, l.checkFractions("target", a.Target)...)
	errs = append(errs, l.checkFractions("deviation", a.Deviation)...)
	return append(errs, a.checkUnderUtilized()...)
}

// checkFractions checks the targets, the deviations, or the levels of When.
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
func (a *Args) checkUnderUtilized() []arg.Error {
	var errs []arg.Error
	fail := func(field, format string, v ...any) { errs = append(errs, arg.Errorf(field, format, v...)) }
	switch below := len(a.Below) + len(a.BelowMean); {
	case a.NumberOfNodes < 0:
		fail("numberOfNodes", "%d is too small (want 0 or more)", a.NumberOfNodes)
	case a.NumberOfNodes > 0 && below == 0:
		fail("numberOfNodes", "counts under-utilized nodes, but below is not set "+
			"(want below, such as below: {cpu: 0.20}, or belowMean)")
	case len(a.Below) > 0 && len(a.BelowMean) > 0:
		fail("belowMean", "is set together with below (want one of them)")
	}
	for _, r := range sortedKeys(a.Below) {
		if target, ok := a.Target[r]; ok && a.Below[r] > target && a.Below[r] <= 1 {
			fail("below."+r, "%v is above target.%s, %v (want at most the target)", a.Below[r], r, target)
		}
	}
	errs = append(errs, a.checkLowLevels("below", a.Below)...)
	return append(errs, a.checkLowLevels("belowMean", a.BelowMean)...)
}

func (a *Args) checkLowLevels(field string, levels map[string]float64) []arg.Error {
	var errs []arg.Error
	if len(a.resources()) == 0 {
		return nil // checkLevels reports this
	}
	for _, r := range sortedKeys(levels) {
		path := field + "." + r
		if !slices.Contains(a.resources(), r) {
			want := strings.Join(a.resources(), ", ")
			errs = append(errs, arg.Errorf(path, "the resource has no target or deviation (want %s)", want))
			continue
		}
		errs = append(errs, arg.Fraction(path, levels[r])...)
	}
	return errs
}
