// Package summary describes a finished search as a plan.Plan: moves, rejections, inputs,
// and the cluster before and after. It only reads the search.
package summary

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/lowerbound"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// validity is how long a plan may be executed after the planner makes it.
const validity = 15 * time.Minute

// Summarize converts the search to a plan. before and start are the cluster and the goals at the
// start of the search.
func Summarize(c *search.Search, before plan.State, start *goal.Tracker) plan.Plan {
	out := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan",
		TakenAt: c.Snapshot.TakenAt.UTC(), TakenAtEstimated: c.Snapshot.Objects.TakenAt.IsZero(), Expires: c.Now.Add(validity).UTC(),
		Cluster:    plan.ClusterInfo{UID: c.Snapshot.ClusterUID, Version: fmt.Sprintf("%d.%d", c.Snapshot.ServerMajor, c.Snapshot.ServerMinor)},
		ConfigHash: c.Options.ConfigHash,
		Moves:      []plan.Move{},
		Rejections: c.Rejections.List(c.Snapshot, c.Options.SamplesPerCode),
		Goals:      []plan.Goal{},
		Before:     before,
		Strategies: strategies(c),
		Schedulers: c.Schedulers,
		Inputs:     inputs(c),
		Blocks:     Blocks(c),
		Pressure:   PressureHints(c), HintsNoData: hintsUnknown(c),
	}
	if _, spent := c.PredictionLimitReached(); spent {
		out.SearchLimitReached = fmt.Sprintf("limits.maxPredictions lets a plan predict %s; %s not tried to the end", search.CountPredictions(c.Options.MaxPredictions), search.CountPodsWere(out.Rejections.Counts[plan.PredictionLimitReached]))
	}
	for i, nodes := range c.HintedByWave {
		if len(nodes) > 0 {
			out.Hints = append(out.Hints, c.WaveHints(i+1, nodes))
		}
	}
	for i, st := range c.Moves {
		m := DescribeMove(c, st)
		m.Step = i + 1
		out.Moves = append(out.Moves, m)
	}
	out.After, out.Bound = DescribeState(c), lowerbound.Of(c, start)
	for _, g := range c.Goals.Goals {
		if g.ID != "" {
			out.Goals = append(out.Goals, g)
		}
	}
	out.ID = plan.ContentID(out)
	return out
}
