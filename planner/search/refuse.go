package search

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// If goal g is by usage, rejectUnknownUsage rejects the pods on its node whose usage is unknown.
func (c *pass) rejectUnknownUsage(g int) {
	b, ok := c.Goals.Measures[g].(*goal.NodeMeasure)
	if !ok || !b.Amounts.Measure.ByUsage {
		return
	}
	for _, id := range c.PodsOf(g) {
		if c.Rejections.Has(id) || c.Moved[id] {
			continue
		}
		if why, unknown := c.usageUnknown(b, id); unknown {
			if more, no := c.Eligibility.RefuseFor(c.StrategyOf(g), id); no {
				why = more // this reason rejects the pod anyway
			}
			c.Rejections.Add(id, c.Goals.Goals[g].Strategy, why)
		}
	}
}

// usageUnknown reports whether a pod's usage is unknown, with the reason.
func (c *pass) usageUnknown(b *goal.NodeMeasure, pod cluster.PodID) (plan.Reason, bool) {
	resource, name := b.Amounts.Measure.Resource, c.Snapshot.Nodes[b.Node].Name
	switch b.Amounts.PodQuality(pod) {
	case cluster.Unknown:
		if !c.Snapshot.Usage.MeasuresPods(resource) {
			return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
				"how much %s it uses is not known: %s measures %s of nodes, but not of pods", resource, c.Snapshot.Usage.Raw.Source, resource)}, true
		}
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
			"how much %s it uses is not known: %s measured %s, but not the pod", resource, c.Snapshot.Usage.Raw.Source, name)}, true
	case cluster.BoundAfterSample:
		return plan.Reason{Code: plan.UsageUnknown, Message: fmt.Sprintf(
			"how much %s it uses is not known yet: it came to %s after the last sample, of %s",
			resource, name, c.Snapshot.Usage.MeasuredAt(b.Node).UTC().Format(time.RFC3339))}, true
	}
	return plan.Reason{}, false
}

// minBenefit is the least benefit of an eviction, as a share of the node's allocatable: 0.05 %. Reports show a
// smaller excess as 0.0 %, and a varying load repeatedly crosses its limit by that little. The minimum does not
// depend on the excess, so the next plan values the same move equally. Moves that improve a group goal need no
// minimum benefit, because a group goal counts whole pods.
const minBenefit = 0.0005

// benefitTooSmall reports whether a pod's eviction would improve goals, but each goal by less than minBenefit.
func (c *pass) benefitTooSmall(pod cluster.PodID) (plan.Reason, bool) {
	from := c.NodeOf(pod)
	var most float64
	var of int
	enough := !c.Goals.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		removed := c.Goals.Excess(i) - c.Goals.ExcessAfterLeaving(i, pod, from)
		if !c.Goals.Asks(i, pod) || removed <= 0 {
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
	share, least := percent.Pair(most, minBenefit)
	return plan.Reason{Code: plan.BenefitTooSmall, Message: fmt.Sprintf(
		"its leaving would take %s of the %s of %s off what is above the limit; less than %s is not worth an eviction",
		share, c.Goals.Goals[of].Resource, c.Snapshot.Nodes[from].Name, least)}, true
}

// Refuse applies all checks of a move for the strategy that do not depend on the landing. Refuse
// returns the first reason against the eviction.
func (c *pass) Refuse(pod cluster.PodID, strategy int) (plan.Reason, bool) {
	if reason, refused := c.Eligibility.RefuseFor(strategy, pod); refused {
		return reason, true
	}
	p := &c.Snapshot.Pods[pod]
	// The Job's status may not include pods that an earlier plan evicted. Counting an evicted pod twice is safer than
	// ignoring the pod.
	if why, fails := guard.JobFails(c.Snapshot, p, c.Limits.PlannedFor(p.Workload)); fails && !p.Terminal {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	if reason, no := c.benefitTooSmall(pod); no {
		return reason, true
	}
	if reason, refused := c.Limits.Refuse(pod); refused {
		return reason, true
	}
	return c.Limits.RefuseFor(strategy, pod)
}

// rejectAll records the reason for all pods that could improve goal g and are not rejected yet. For
// pods that the goal's strategy may not move, it records that reason.
func (c *goalSearch) rejectAll(g int, reason plan.Reason) {
	for _, id := range c.PodsOf(g) {
		if r, known := c.Rejections.Of(id); c.Moved[id] || known && !c.isOutOfScope(r.Reason) {
			continue
		}
		if from := c.NodeOf(id); from != cluster.NoNode && c.Goals.CouldImprove(g, id, from) {
			why := reason
			if r, barred := c.Eligibility.BarredFor(c.StrategyOf(g), id); barred {
				why = r
			}
			c.reject(id, g, why)
		}
	}
}
