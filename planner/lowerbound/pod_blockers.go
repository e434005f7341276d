package lowerbound

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// podBlockers counts why the pods of unmet goals about single pods are not moved, for one strategy.
type podBlockers struct {
	strategy       string
	causes         map[cause]int
	all, explained int
}

// podBlockers returns the causes of all strategies with unmet goals about single pods, in the order of the goals. A
// strategy may state one goal for each pod, so they have one entry for each cause and not one for each goal.
func (p *proof) podBlockers(moved map[cluster.PodID]bool) (out []plan.Blocker) {
	var all []*podBlockers
	byStrategy := map[string]*podBlockers{}
	for g := range p.result.End.Goals.Goals {
		goal := &p.result.End.Goals.Goals[g]
		if goal.Kind != plan.PodAway || !p.isUnmet(g) {
			continue
		}
		of := byStrategy[goal.Strategy]
		if of == nil {
			of = &podBlockers{strategy: goal.Strategy, causes: map[cause]int{}}
			byStrategy[goal.Strategy] = of
			all = append(all, of)
		}
		of.all++
		r, rejected := p.result.Account.Rejections.Of(goal.Pods[0])
		if rejected || moved[goal.Pods[0]] {
			of.explained++
		}
		if rejected {
			of.causes[cause{r.Reason.Code, wordsOf(r.Reason)}]++
		}
	}
	for _, of := range all {
		for _, x := range sortedCauses(of.causes) {
			out = append(out, plan.Blocker{Code: x.code, Detail: fmt.Sprintf("strategy %s: %s%d of the %s that should leave %s %s",
				of.strategy, atLeastText(of.explained < of.all), of.causes[x], plural.Count(of.all, "pod"),
				plural.Choose(of.causes[x], "is", "are"), x.words)})
		}
	}
	return out
}
