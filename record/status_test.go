package record_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// TestNoNextPassAfterACommand: after the pass of a command, the next pass is known only if the release makes passes on
// its own.
func TestNoNextPassAfterACommand(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for before, want := range map[string]string{"": "Command", "Command": "Command", "CronJob": "CronJob", "Deployment": "Deployment"} {
		for _, schedule := range []string{"", "Command"} {
			s := record.Rebalancer(v1alpha1.RebalancerStatus{Schedule: before}, record.Pass{Report: &plan.RunReport{Mode: plan.Live, Started: at, Finished: at},
				Modes: map[string]plan.StrategyMode{"cpu": plan.Automatic}, Next: map[string]time.Time{"cpu": at.Add(time.Hour)}, Schedule: schedule})
			if next := s.Strategies[0].NextPass; s.Schedule != want || (next == nil) != (want == "Command") {
				t.Errorf("a pass of %q after %q: schedule %s and next pass %v, want %s", schedule, before, s.Schedule, next, want)
			}
		}
	}
}

// TestAnInterruptedStepStaysApproved: a step that the dead process reserved, and whose pod it may not have evicted, is
// resumed by the next one. If the pod is gone then, the step may have been executed.
func TestAnInterruptedStepStaysApproved(t *testing.T) {
	spec := &v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeApprove}
	before := v1alpha1.RebalancePlanStatus{Attempts: 1}
	for step := range int32(4) {
		spec.Moves = append(spec.Moves, v1alpha1.Move{Step: step + 1})
		before.Steps = append(before.Steps, v1alpha1.StepStatus{Step: step + 1, State: v1alpha1.StepApproved})
	}
	unknown := plan.Reason{Code: plan.OutcomeUnknown}
	s := record.Status(before, spec, &plan.RunReport{Mode: plan.Live, Finished: time.Unix(1, 0), Recovery: &plan.Recovery{Holder: "dead"},
		Stopped: &plan.Reason{Code: plan.Interrupted}, Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}, {Step: 2, Outcome: plan.Dropped},
			{Step: 3, Outcome: plan.UnknownOutcome, Reason: unknown}, {Step: 4, Outcome: plan.UnknownOutcome, Reason: unknown}}}, "dead")
	approved := v1alpha1.StepApproved
	checkSteps(t, s, v1alpha1.PhaseRunning, v1alpha1.StepEvicted, approved, approved, approved)
	s = record.Status(s, spec, &plan.RunReport{Mode: plan.Live, Finished: time.Unix(2, 0), Outcomes: []plan.Outcome{{Step: 2, Outcome: plan.Evicted},
		{Step: 3, Outcome: plan.AlreadyGone}, {Step: 4, Outcome: plan.Dropped}}}, "next")
	checkSteps(t, s, v1alpha1.PhaseCompleted, v1alpha1.StepEvicted, v1alpha1.StepEvicted, v1alpha1.StepUnknown, v1alpha1.StepUnknown)
}

func checkSteps(t *testing.T, s v1alpha1.RebalancePlanStatus, phase v1alpha1.Phase, want ...v1alpha1.StepState) {
	t.Helper()
	var got []v1alpha1.StepState
	for _, x := range s.Steps {
		got = append(got, x.State)
	}
	if s.Phase != phase || !slices.Equal(got, want) {
		t.Errorf("phase %s, steps %s; want %s, %s", s.Phase, got, phase, want)
	}
}

// TestAStepKeepsItsDecisionAndItsEviction: the outcome of an approved step has the person who decided, and a later pass
// that finds the pod gone does not hide that it was evicted.
func TestAStepKeepsItsDecisionAndItsEviction(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	spec := &v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeApprove, Moves: []v1alpha1.Move{{Step: 1}, {Step: 2}}}
	s := v1alpha1.RebalancePlanStatus{Steps: []v1alpha1.StepStatus{{Step: 1, State: v1alpha1.StepApproved, DecidedBy: "alice", DecidedAt: &at}}}
	for _, outcome := range []plan.OutcomeKind{plan.Evicted, plan.AlreadyGone} {
		s = record.Status(s, spec, &plan.RunReport{Mode: plan.Live, Finished: at.Time, Outcomes: []plan.Outcome{{Step: 1, Outcome: outcome}}}, "pod-a")
		if len(s.Steps) != 1 || s.Steps[0].DecidedBy != "alice" || s.Steps[0].State != v1alpha1.StepEvicted || s.Phase != v1alpha1.PhaseWaiting || s.Closed {
			t.Errorf("after %s: %+v", outcome, s)
		}
	}
}
