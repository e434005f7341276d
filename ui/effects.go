package ui

import (
	"fmt"
	"strconv"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/report/html"
)

// scoreOf returns the balance score before and after a plan, or nil if it is unknown.
func scoreOf(o *v1alpha1.RebalancePlan) *scorePair {
	b, a := o.Spec.Before.ScorePerMille, o.Spec.After.ScorePerMille
	if b == nil || a == nil {
		return nil
	}
	return &scorePair{points(*b), points(*a), fmt.Sprintf("of 100, with all %d moves", o.Spec.MoveCount)}
}

// categoryWords are the failure categories, the worst first.
var categoryWords = [...]string{"1 complete loss", "2 substantial", "3 noticeable", "4 minor"}

// categories counts the stored workloads by what they lose if the worst zone fails, now and after the plan.
func categories(o *v1alpha1.RebalancePlan) (out []html.Twin) {
	var now, after [len(categoryWords)]int
	count := func(all []v1alpha1.WorkloadState, in *[len(categoryWords)]int) {
		for i := range all {
			if c := int(all[i].FailureCategory); c >= 1 && c <= len(in) {
				in[c-1]++
			}
		}
	}
	count(o.Spec.Before.Workloads, &now)
	count(o.Spec.After.Workloads, &after)
	most := 0
	for i := range categoryWords {
		most = max(most, now[i], after[i])
	}
	if most == 0 {
		return nil
	}
	width := func(n int) string { return fmt.Sprintf("%d%%", 100*n/most) }
	for i := range categoryWords {
		out = append(out, html.Twin{Key: strconv.Itoa(i + 1), Now: strconv.Itoa(now[i]), After: strconv.Itoa(after[i]), NowWidth: width(now[i]), AfterWidth: width(after[i])})
	}
	return out
}
