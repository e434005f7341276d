package answers

import (
	"regexp"

	"github.com/evenkeel-project/evenkeel/plan"
)

// goalID finds the goals that a blocker names.
var goalID = regexp.MustCompile(`\((g\d+)\)`)

// GoalsByCause returns the goals for which the plan names a cause, and their number.
func GoalsByCause(b *plan.Bound) (by map[plan.Code]map[string]bool, listed int) {
	by, all := map[plan.Code]map[string]bool{}, map[string]bool{}
	add := func(c plan.Code, goal string) {
		if by[c] == nil {
			by[c] = map[string]bool{}
		}
		by[c][goal], all[goal] = true, true
	}
	for _, x := range b.BlockedBy {
		for _, m := range goalID.FindAllStringSubmatch(x.Detail, -1) {
			add(x.Code, m[1])
		}
	}
	for _, g := range b.UnmetGoals {
		for c := range g.Rejections {
			add(c, g.Goal)
		}
	}
	for g := range b.ResidualByGoal {
		all[g] = true
	}
	return by, len(all)
}
