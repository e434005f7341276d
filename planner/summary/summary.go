// Package summary describes a finished search as a plan.Plan: moves, rejections, inputs, and the cluster before and
// after. Package summary only reads the search.
package summary

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/lowerbound"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// validity is the time for which a plan may be executed after the planner made it.
const validity = 15 * time.Minute

// Summarize converts the result of a search to a plan.
func Summarize(c *search.Result) plan.Plan {
	strategies := strategyStates(c)
	before, after := describeStates(c)
	out := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan",
		TakenAt: c.Snapshot.TakenAt.UTC(), TakenAtEstimated: c.Snapshot.Objects.TakenAt.IsZero(), Expires: c.Problem.Now.Add(validity).UTC(),
		Cluster:    plan.ClusterInfo{UID: c.Snapshot.ClusterUID, Version: c.Snapshot.Version()},
		ConfigHash: c.Options.ConfigHash,
		Moves:      make([]plan.Move, 0, len(c.Moves)),
		Rejections: c.Account.Rejections.List(c.Snapshot, c.Options.SamplesPerCode),
		Goals:      []plan.Goal{},
		Before:     before,
		After:      after,
		Bound:      lowerbound.Compute(c),
		Strategies: strategies,
		Schedulers: c.Problem.Schedulers,
		Inputs:     planInputs(c, strategies),
		Blocks:     Blocks(c), WindowLimits: c.Account.Limits.WindowKeys(),
		Pressure: PressureHints(c), HintsNoData: hintsWithoutDataReason(c),
		OtherDeschedulers: OtherDeschedulersIn(c.Snapshot),
	}
	for i, nodes := range c.HintedByWave {
		if len(nodes) > 0 {
			out.Hints = append(out.Hints, c.End.WaveHints(i+1, nodes))
		}
	}
	for i, st := range c.Moves {
		m := DescribeMove(c, st)
		m.Step = i + 1
		out.Moves = append(out.Moves, m)
	}
	out.GoalsNotMovable = c.CountFixed()
	if reason, cut := c.End.LimitReached(); cut {
		out.StoppedAt, out.GoalsNotTried = c.Snapshot.Work.StoppedAt(), c.NotTried
		pods := out.Rejections.Counts[reason.Code]
		out.SearchLimitReached = fmt.Sprintf("%s; %s %s not tried to the end", strings.TrimSuffix(reason.Message, "; the search ended early"),
			plural.Count(pods, "pod"), plural.Choose(pods, "was", "were"))
		if c.NotTried > 0 {
			out.SearchLimitReached += fmt.Sprintf(", and %s not at all", plural.Count(c.NotTried, "goal"))
		}
		if c.BeforeGoals {
			out.SearchLimitReached += "; strategies had not stated all goals"
		}
	}
	addGoals(c, &out)
	addBalance(c, &out)
	out.LimitUse = c.Account.Limits.Use()
	out.NothingJudged = nothingJudged(c, out.Strategies, out.HintsNoData)
	out.ID = plan.ContentID(out)
	return out
}

// GracePeriodSeconds returns the time that a victim may take to terminate, in seconds.
func GracePeriodSeconds(o *search.Options, p *cluster.Pod) int64 {
	for _, g := range []*int64{o.Placement.GracePeriodSeconds, p.Object.Spec.TerminationGracePeriodSeconds} {
		if g != nil {
			return *g
		}
	}
	return 0
}

// DescribeMove converts one step of a wave to a move.
func DescribeMove(c *search.Result, st search.WaveStep) plan.Move {
	p := &c.Snapshot.Pods[st.Pod]
	m := plan.Move{
		Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(c.Snapshot, p), Goals: make([]string, 0, len(st.Landing.ImprovedGoals)),
		From: c.Snapshot.Nodes[st.From].Name, To: c.End.NodeName(st.Landing.To),
		Acceptable: plan.Acceptable{Nodes: st.Landing.Acceptable},
		Confidence: st.Landing.Confidence, ReturnProbability: st.Landing.ReturnProbability, PendingProbability: st.Landing.PendingProbability,
		NotAfter: c.Account.Eligibility.AllowedUntil(p), Wave: st.Wave, Steer: c.End.SteerKind(st.Landing), Benefit: plan.Round(st.Benefit), Priority: cluster.EvictionOrderOf(p, c.Problem.Now).Priority,
		GracePeriodSeconds: GracePeriodSeconds(c.Options, p), RequestOnly: c.Account.Eligibility.RequestOnly(p),
	}
	for _, i := range st.Landing.ImprovedGoals {
		m.Goals = append(m.Goals, c.End.Goals.Goals[i].ID)
	}
	st.Describe(c.Snapshot, &c.End.Goals.Goals[st.MostImproved], &m)
	return m
}
