package summary

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

func podRefs(c *search.Result, pods []cluster.PodID) (out []plan.PodRef) {
	for _, p := range pods {
		out = append(out, plan.PodRefOf(&c.Snapshot.Pods[p]))
	}
	return out
}

// addGoals lists the unmet goals, and counts those about single pods.
func addGoals(c *search.Result, out *plan.Plan) {
	listed, n := c.ListedGoals(), 0
	for _, is := range listed {
		if is {
			n++
		}
	}
	out.Goals = slices.Grow(out.Goals, n)
	for i, isListed := range listed {
		g := &c.End.Goals.Goals[i]
		if isListed {
			out.Goals = append(out.Goals, *g)
			if g.Kind == plan.NodeEmpty {
				out.Goals[len(out.Goals)-1].Leaving = podRefs(c, g.Pods)
			}
		}
		if g.Kind != plan.PodAway || g.ID == "" {
			continue
		}
		at := slices.IndexFunc(out.PodGoals, func(x plan.PodGoals) bool { return x.Strategy == g.Strategy })
		if at < 0 {
			at = len(out.PodGoals)
			out.PodGoals = append(out.PodGoals, plan.PodGoals{Strategy: g.Strategy})
		}
		n := &out.PodGoals[at]
		n.Unmet++
		if c.End.Goals.Excess(i) > 0 {
			n.UnmetAfter++
		}
		if isListed {
			n.Listed++
			out.Before.Excess[g.ID], out.After.Excess[g.ID] = g.Excess, c.End.Goals.ReportedExcess(i)
		} else {
			delete(out.Bound.ResidualByGoal, g.ID)
		}
	}
}
