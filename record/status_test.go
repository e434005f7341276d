package record_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// TestNextPassOfACronJob: the job of one strategy does not hide that the job of another one did not run.
func TestNextPassOfACronJob(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	pass := func(started time.Time, due, schedule string) record.Pass {
		next := started.Add(time.Hour)
		return record.Pass{Report: &plan.RunReport{Mode: plan.Live, Started: started, Finished: started.Add(time.Minute)}, Due: []string{due},
			Modes: map[string]plan.StrategyMode{"cpu": plan.Automatic, "zones": plan.Automatic}, Next: map[string]time.Time{"cpu": next, "zones": next}, Schedule: schedule}
	}
	first := record.Rebalancer(v1alpha1.RebalancerStatus{}, pass(at, "zones", "CronJob"))
	for schedule, want := range map[string]time.Time{"CronJob": at.Add(time.Hour), "Deployment": at.Add(3 * time.Hour)} {
		late := record.Rebalancer(first, pass(at.Add(2*time.Hour), "cpu", schedule))
		if cpu := late.Strategies[0].NextPass; !cpu.Time.Equal(at.Add(3 * time.Hour)) {
			t.Errorf("%s: the next pass of cpu is at %s, want an hour after its pass", schedule, cpu)
		}
		if zones := late.Strategies[1].NextPass; !zones.Time.Equal(want) {
			t.Errorf("%s: the next pass of zones is at %s, want %s", schedule, zones, want)
		}
	}
}

// TestAStepNamesWhoApproved: the outcome of an approved step has the person and the time of the decision.
func TestAStepNamesWhoApproved(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	spec := &v1alpha1.RebalancePlanSpec{Moves: []v1alpha1.Move{{Step: 1}}}
	r := &plan.RunReport{Mode: plan.Live, Finished: at, Approval: &plan.Approval{By: "alice", At: at}, Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}}
	s := record.Status(v1alpha1.RebalancePlanStatus{}, spec, r, "pod-a")
	if len(s.Steps) != 1 || s.Steps[0].DecidedBy != "alice" || !s.Steps[0].DecidedAt.Time.Equal(at) {
		t.Errorf("steps %+v, want that alice decided", s.Steps)
	}
	r.Approval = nil
	if s := record.Status(v1alpha1.RebalancePlanStatus{}, spec, r, "pod-a"); s.Steps[0].DecidedBy != "" {
		t.Errorf("an automatic move was decided by %q", s.Steps[0].DecidedBy)
	}
}
