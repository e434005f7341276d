package summary

import (
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// guardsInput names each PriorityClass of guards.priorityBelow that the cluster does not have. No pod moves while the
// global guards name such a class, and none for a strategy whose own guards do.
func guardsInput(c *search.Result, age string) plan.Input {
	in := plan.Input{Source: "guards", Age: age, Coverage: 1, Problems: []string{}}
	global := c.Options.Guards.PriorityBelowName
	if problem := guard.MissingPriorityClass(c.Snapshot, &c.Options.Guards); problem != "" {
		in.Problems = append(in.Problems, problem+": no pod moves")
	}
	for _, info := range listedStrategies(c) {
		if info.Own == nil || info.Own.Guards == nil || info.Own.Guards.PriorityBelowName == global {
			continue
		}
		if problem := guard.MissingPriorityClass(c.Snapshot, info.Own.Guards); problem != "" {
			in.Problems = append(in.Problems, "strategy "+info.Name+": "+problem+": no pod moves for it")
		}
	}
	return in
}
