package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// unjudgedErrors returns an error if the pass could judge nothing. Otherwise, it returns an error for each due strategy
// without usage data, and for hints without usage data.
func unjudgedErrors(p plan.Plan, due []string) error {
	if causes := p.NothingJudgedText(); causes != "" {
		return fmt.Errorf("nothing could be judged: %s", causes)
	}
	errs := emptyScopeErrors(p, due)
	for _, st := range p.Strategies {
		if st.NoData != "" && slices.Contains(due, st.Name) {
			errs = append(errs, fmt.Errorf("strategy %s moved nothing: %s; see the inputs in the report", st.Name, st.NoData))
		}
	}
	if p.HintsNoData != "" {
		errs = append(errs, fmt.Errorf("hints evaluated no node: %s; see the inputs in the report", p.HintsNoData))
	}
	return errors.Join(errs...)
}

// emptyScopeErrors returns an error for each due strategy if the own selectors of every one of them select nothing.
func emptyScopeErrors(p plan.Plan, due []string) (errs []error) {
	for _, st := range p.Strategies {
		if !slices.Contains(due, st.Name) {
			continue
		}
		if st.NothingInScope == "" {
			return nil
		}
		errs = append(errs, fmt.Errorf("strategy %s moved nothing: %s (%s)", st.Name, st.NothingInScope, plan.NothingInScope))
	}
	return errs
}
