package search

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"time"
)

// rejectUnknownUsage gives a reason to the pods of a node that stay only because nobody
// knows what they use.
func (c *Search) rejectUnknownUsage(g int) {
	b, ok := c.Goals.Measures[g].(*goal.NodeMeasure)
	if !ok || !b.Amounts.Measure.ByUsage {
		return
	}
	for _, id := range c.PodsOf(g) {
		if c.Rejections.has(id) || c.Moved[id] {
			continue
		}
		if why, unknown := c.usageUnknown(b, id); unknown {
			if more, no := c.Eligibility.Refuse(id); no {
				why = more // it would stay anyway
			}
			c.Rejections.add(id, c.Goals.Goals[g].Strategy, why)
		}
	}
}

// usageUnknown says that nobody knows what a pod uses, and why.
func (c *Search) usageUnknown(b *goal.NodeMeasure, pod cluster.PodID) (plan.Reason, bool) {
	resource, name := b.Amounts.Measure.Resource, c.Snapshot.Nodes[b.Node].Name
	switch b.Amounts.PodQuality(pod) {
	case cluster.Unknown:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known: %s measured %s, but not the pod", resource, c.Snapshot.Usage.Raw.Source, name)}, true
	case cluster.BoundAfterSample:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf("how much %s it uses is not known yet: it came to %s after the last sample, of %s",
			resource, name, c.Snapshot.Usage.MeasuredAt(b.Node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}

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
		b, ok := c.Goals.Measures[i].(*goal.NodeMeasure)
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

// Refuse asks everything that does not depend on the landing.
func (c *Search) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	if reason, refused := c.Eligibility.Refuse(pod); refused {
		return reason, true
	}
	p := &c.Snapshot.Pods[pod]
	// What a plan before this one evicted may not stand in the Job's status yet: that it
	// counts twice where it does is the better mistake.
	if why, fails := guard.JobFails(c.Snapshot, p, c.Limits.PlannedFor(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	if reason, no := c.benefitTooSmall(pod); no {
		return reason, true
	}
	return c.Limits.Refuse(pod)
}

// rejectAll gives the reason to all pods that could serve the goal and have none.
func (c *Search) rejectAll(g int, reason plan.Reason) {
	for _, id := range c.PodsOf(g) {
		if !c.Rejections.has(id) && !c.Moved[id] {
			if from := c.Model.NodeOf(id); from != cluster.NoNode && c.Goals.CouldServe(g, id, from) {
				c.Rejections.add(id, c.Goals.Goals[g].Strategy, reason)
			}
		}
	}
}
