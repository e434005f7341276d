package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// TestTheNextLeaderResumesAnApprovedPlan: the process that took the plan has died. The third process still executes the
// plan, and the fourth drops its steps.
func TestTheNextLeaderResumesAnApprovedPlan(t *testing.T) {
	for died := 1; died <= 3; died++ {
		a := newApprovalTest(t)
		w := a.pass(t)
		a.decide(t, w.Name, waiting.ToApprove, "alice", 1, 2)
		for i := range died {
			a.claim(t, fmt.Sprint("dead-", i))
		}
		a.lead(t, 2)
		if died == 3 {
			st := a.status(t, w.Name)
			if st.Phase != v1alpha1.PhaseStopped || st.Stopped.Code != string(plan.Interrupted) || st.Steps[0].State != v1alpha1.StepDropped ||
				len(a.evictor.waves) != 0 {
				t.Errorf("after %d processes: %d waves, %+v", died, len(a.evictor.waves), st)
			}
			continue
		}
		if r := a.report(t); len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != plan.Evicted || r.Approval.Attempt != died+1 {
			t.Errorf("after %d processes: %+v", died, r)
		}
	}
}

// TestAClaimWithALostAnswerIsExecuted checks that a process executes a plan that it claimed, although the API server's
// answer to the claim was lost.
func TestAClaimWithALostAnswerIsExecuted(t *testing.T) {
	a := newApprovalTest(t)
	a.decide(t, a.pass(t).Name, waiting.ToApprove, "alice", 1)
	a.claim(t, a.Holder)
	a.lead(t, 2)
	if r := a.report(t); r.Stopped != nil || len(r.Outcomes) != 1 || r.Outcomes[0].Outcome != plan.Evicted {
		t.Errorf("%+v", r)
	}
}

// TestAResumedPlanWaitsForReservedEvictions: while evictions of the dead process may still commit, the plan is not
// resumed. Afterwards the pod that is gone is reported, and the other one is evicted.
func TestAResumedPlanWaitsForReservedEvictions(t *testing.T) {
	a := newApprovalTest(t)
	w := a.pass(t)
	a.decide(t, w.Name, waiting.ToApprove, "alice", 1, 2)
	a.claim(t, "dead")
	reservedAt := a.clock.Now()
	storeState(t, a.Controller, plan.PlannerState{Runs: []plan.OpenRun{{RunID: "dead-run", Holder: "dead", Started: reservedAt,
		Reservations: []plan.Reservation{{Step: 1, Wave: 1, Pod: w.Moves[0].Pod, Workload: plan.ObjectRef{Namespace: "shop", Name: "web"}, At: reservedAt}}}}})
	a.Resolver = resolver(func() (plan.Outcome, error) {
		return plan.Outcome{Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.Interrupted}}, nil // no reserved eviction happened
	})
	a.lead(t, 3)
	if len(a.evictor.waves) != 0 {
		t.Fatalf("resumed after %s, before the evictions of the dead process ended", a.clock.Since(reservedAt))
	}
	a.clock.Step(evictor.LongestCall)
	a.Planner = firstPodGone{a.Planner.(*planner.Planner)}
	a.lead(t, 2)
	report := a.report(t)
	if len(report.Outcomes) != 2 || report.Outcomes[0].Outcome != plan.AlreadyGone || report.Outcomes[1].Outcome != plan.Evicted ||
		!strings.Contains(report.Outcomes[0].Reason.Message, "an earlier process took this plan and may have evicted it") {
		t.Errorf("%+v", report.Outcomes)
	}
	if !slices.ContainsFunc(a.reports, func(r plan.RunReport) bool { return r.Recovery != nil && r.RunID == "dead-run" }) {
		t.Error("the run of the dead process is not reported")
	}
}

// TestAResumedPlanWaitsForUnknownOutcomes: a pass found the outcome of an eviction of the dead process unknown. Its
// workload backs off, and the eviction may still commit. The plan is resumed afterwards.
func TestAResumedPlanWaitsForUnknownOutcomes(t *testing.T) {
	for name, unknown := range map[string]func(m plan.Move, since, until time.Time) plan.PlannerState{
		"back-off": func(m plan.Move, since, until time.Time) plan.PlannerState {
			return plan.PlannerState{Backoffs: []plan.Backoff{{Workload: history.WorkloadOfMove(m), Failures: 1, Since: since, Until: until,
				Reason: plan.Reason{Code: plan.OutcomeUnknown}}}}
		},
		"in the background": func(m plan.Move, since, until time.Time) plan.PlannerState {
			return plan.PlannerState{Background: []plan.BackgroundEviction{{Pod: m.Pod, Workload: history.WorkloadOfMove(m), From: m.From,
				Since: since, Until: until.Add(time.Hour), AwaitsReplacement: true}}}
		},
	} {
		a := newApprovalTest(t)
		w := a.pass(t)
		a.decide(t, w.Name, waiting.ToApprove, "alice", 1)
		a.claim(t, "dead")
		until := a.clock.Now().Add(history.CommitTimeout)
		storeState(t, a.Controller, unknown(w.Moves[0], a.clock.Now(), until))
		a.lead(t, 3)
		if len(a.evictor.waves) != 0 {
			t.Fatalf("%s: resumed, although the outcome is unknown", name)
		}
		a.clock.SetTime(until)
		a.observer.s.TakenAt = until
		a.lead(t, 2)
		if r := a.report(t); len(r.Outcomes) != 1 || r.Outcomes[0].Outcome != plan.Evicted {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// firstPodGone is a planner that sees that the pod of step 1 is gone.
type firstPodGone struct{ *planner.Planner }

func (p firstPodGone) Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, pl plan.Plan, wave int,
	now time.Time) (ok []plan.Move, dropped []plan.Outcome) {
	ok, dropped = p.Planner.Recheck(s, st, goals, pl, wave, now)
	return slices.DeleteFunc(ok, func(m plan.Move) bool {
		if m.Step == 1 {
			dropped = append(dropped, plan.Outcome{Step: 1, Pod: m.Pod, Outcome: plan.AlreadyGone,
				Reason: plan.Reason{Code: plan.PodGoneAlready, Message: "the pod is gone"}})
		}
		return m.Step == 1
	}), dropped
}
