package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// minBenefit is the least share of a node's allocatable that an eviction must take off what
// is too much there. Less than half of 0.1 % is what reports show as 0.0 % over: nobody
// asks for an eviction to mend it, and a load that varies crosses its limit by so little
// again and again. It is a share of the node, not of the excess, so that the same
// remainder is worth as little to the next plan. A move that a group needs is always
// worth it: it counts in whole pods.
const minBenefit = 0.0005

// benefitTooSmall says that a pod's leaving would serve goals, but each by less than the floor.
func (c *Search) benefitTooSmall(pod cluster.PodID) (plan.Reason, bool) {
	from := c.Model.NodeOf(pod)
	var most float64
	var of int
	enough := !c.Goals.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		removed := c.Goals.Excess(i) - c.Goals.ExcessAfterLeaving(i, pod, from)
		if c.Goals.Goals[i].Constraint || removed <= 0 {
			return true
		}
		b, ok := c.Goals.Measures[i].(*NodeMeasure)
		if !ok {
			return false
		}
		if share := float64(removed) / float64(b.Total); share > most {
			most, of = share, i
		}
		return most < minBenefit
	})
	if enough || most == 0 {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.BenefitTooSmall, Message: fmt.Sprintf(
		"its leaving would take %.3f %% of the %s of %s off what is above the limit; less than %.2f %% is not worth an eviction",
		100*most, c.Goals.Goals[of].Resource, c.Snapshot.Nodes[from].Name, 100*minBenefit)}, true
}
