package controller

import (
	"context"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

// keepNodesEmpty leaves a hint on each node that the pass has emptied with hints, because the
// scheduler would prefer the empty node for new pods, too. A failure only costs the hints. A plan
// that was saved or approved does not say how long hints stay, so its nodes get none.
func keepNodesEmpty(ctx context.Context, p *pass) {
	planned := &p.report.Plan
	if p.Mode != plan.Live || p.HintWriter == nil || len(planned.Hints) == 0 {
		return
	}
	var list []hints.Hint
	for i := range planned.Goals {
		if g := &planned.Goals[i]; g.KeepEmptyFor > 0 && wasEmptied(&p.report, g) {
			list = append(list, hints.KeepEmpty(g.Subject.Name, hints.Kind(planned.Hints[0].Kind), p.report.RunID,
				p.Clock.Now().Add(min(g.KeepEmptyFor, hints.MaxTTL-time.Minute))))
		}
	}
	if len(list) == 0 {
		return
	}
	write, cancel := context.WithTimeout(ctx, hintWriteTimeout)
	defer cancel()
	p.log.Info("keeping new pods away from emptied nodes", "nodes", len(list))
	if err := p.HintWriter.Put(write, list); err != nil {
		p.log.Warn("emptied nodes got no hint, so new pods may land there", "error", err)
	}
}

// wasEmptied reports whether all moves for the goal were executed, and no replacement of the pass
// has landed on its node.
func wasEmptied(r *plan.RunReport, g *plan.Goal) bool {
	if g.Kind != plan.NodeEmpty || r.Plan.After.Excess[g.ID] > 0 {
		return false
	}
	for _, m := range r.Plan.Moves {
		if slices.Contains(m.Goals, g.ID) && !slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool {
			return o.Step == m.Step && (o.Outcome == plan.Evicted || o.Outcome == plan.AlreadyGone)
		}) {
			return false
		}
	}
	return !slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool { return o.Landed == g.Subject.Name })
}
