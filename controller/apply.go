package controller

import (
	"context"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// Apply has a saved plan carried out: somebody approved just this one. Every limit,
// window, budget and back-off is asked again, and each move is judged by a fresh look at
// the cluster; those that no longer hold are dropped. The error says why none could be
// tried.
func (c *Controller) Apply(ctx context.Context, p plan.Plan, by plan.Approval) (plan.RunReport, error) {
	report := c.newReport()
	report.Plan, report.Approval = p, &by
	log := c.Log.With("run", report.RunID, "plan", p.ID, "approvedBy", by.By)
	c.leftoverHints = nil
	if err := c.loadState(ctx, log); err != nil {
		c.reportFailure(ctx, &report, err)
		return report, err
	}
	snapshot, err := c.Observer.Snapshot(ctx)
	if err == nil {
		snapshot, err = c.removeExpiredHints(ctx, log, snapshot)
	}
	if err != nil {
		c.reportFailure(ctx, &report, err)
		return report, err
	}
	if why := c.planProblem(p, snapshot.ClusterUID); why != "" {
		report.Stopped = &plan.Reason{Code: plan.PlanRefused, Message: why}
		c.dropRemaining(&report, report.Stopped)
		return c.reportPass(ctx, log, report), nil
	}
	c.updateSchedulerCounts()
	c.checkBreaker(snapshot)
	if report.Stopped = c.blockedReason(); report.Stopped != nil {
		c.dropRemaining(&report, report.Stopped)
		return c.reportPass(ctx, log, report), nil
	}
	log.Info("carrying out an approved plan", "moves", len(p.Moves), "approvedAt", by.At)
	report.Outcomes = append(report.Outcomes, c.Planner.Admit(snapshot, c.state, p, snapshot.TakenAt)...)
	report.Plan.Moves = slices.DeleteFunc(slices.Clone(p.Moves), func(m plan.Move) bool {
		return slices.ContainsFunc(report.Outcomes, func(o plan.Outcome) bool { return o.Step == m.Step })
	})
	report.Stopped = c.executeWaves(ctx, log, &report, nil)
	report.Plan = p
	c.measureBenefit(ctx, log, &report, planner.GoalState{Snapshot: snapshot, Goals: Goals(snapshot, c.Strategies, nil)}, nil)
	return c.reportPass(ctx, log, report), nil
}

// planProblem says why a plan as a whole is not to be carried out; "" when it is.
func (c *Controller) planProblem(p plan.Plan, cluster string) string {
	now := c.Clock.Now()
	switch {
	case plan.ContentID(p) != p.ID:
		return fmt.Sprintf("the plan is not as it was made: its content does not belong to its id %s; make a new one", p.ID)
	case !now.Before(p.Expires):
		return fmt.Sprintf("the plan expired at %s; make a new one", p.Expires.UTC().Format("2006-01-02T15:04:05Z"))
	case p.Cluster.UID != cluster:
		return fmt.Sprintf("the plan was made for another cluster (its kube-system has the UID %q, here it is %q)", p.Cluster.UID, cluster)
	case p.ConfigHash != c.ConfigHash:
		return fmt.Sprintf("the plan was made with another configuration (hash %s) than is in effect here (hash %s); give the same with --config, or make a new plan with this one", p.ConfigHash, c.ConfigHash)
	}
	return movesProblem(p.Moves)
}

// movesProblem says what is wrong with moves that no planner makes.
func movesProblem(moves []plan.Move) string {
	pods, waves := map[string]bool{}, 1
	for i, m := range moves {
		switch {
		case m.Step != i+1:
			return fmt.Sprintf("move %d is called step %d", i+1, m.Step)
		case m.Pod.UID == "" || pods[m.Pod.UID]:
			return fmt.Sprintf("step %d: the pod's UID is missing, or stands there twice", m.Step)
		case m.Wave < waves || m.Wave > i+1:
			return fmt.Sprintf("step %d is in wave %d, after wave %d", m.Step, m.Wave, waves)
		}
		pods[m.Pod.UID], waves = true, m.Wave
	}
	return displacementProblem(moves)
}
