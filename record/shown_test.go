package record_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// A report of a stored plan shows all that the object has: an object made from what is shown is the same, if it leaves
// out nothing.
func TestAReportShowsAllOfAStoredPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		p.Moves, p.Goals, p.Hints = p.Moves[:min(len(p.Moves), 50)], p.Goals[:min(len(p.Goals), 40)], p.Hints[:min(len(p.Hints), 20)]
		for _, s := range []*plan.State{&p.Before, &p.After} {
			s.Nodes, s.Workloads = s.Nodes[:min(len(s.Nodes), 90)], s.Workloads[:min(len(s.Workloads), 90)]
		}
		p.Bound = plan.Bound{MinEvictions: 7, MinForPlan: 5, Residual: 0.25, BlockedBy: []plan.Blocker{{Code: plan.NoTargetFits, Detail: "full"}}}
		for i := range p.Goals {
			p.Before.Excess[p.Goals[i].ID], p.After.Excess[p.Goals[i].ID] = 2, float64(i%3)
		}
		p.Before.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals, Uneven: .25}}}
		p.After.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceZones, Uneven: .125}}}
		p.OtherDeschedulers = []plan.OtherDescheduler{{Program: "descheduler", Kind: "CronJob", Namespace: "kube-system", Name: "d"}}
		p.Blocks = []plan.EvictionBlock{{Reason: plan.Reason{Code: plan.Paused, Message: "until noon"}}}
		p.Strategies = p.Strategies[:min(len(p.Strategies), 60)] // an object has at most 100 strategies and notices
		p.SearchLimitReached = "limits.maxPredictions"
		for i := range p.Strategies {
			p.Strategies[i].NoData = ""
			switch i % 3 {
			case 1:
				p.Strategies[i].WaitingNodes, p.Strategies[i].WaitReason = 4, "too few samples"
			case 2:
				p.Strategies[i].Mode, p.Strategies[i].NothingInScope = plan.Approve, "no node"
			}
		}
		o := v1alpha1.RebalancePlan{Spec: record.Spec(&p, v1alpha1.ModeApprove)}
		shown := record.Shown(&o)
		again := record.Spec(&shown.Plan, v1alpha1.ModeApprove)
		if o.Spec.Omitted != nil {
			t.Fatalf("the object leaves out %+v", o.Spec.Omitted)
		}
		for _, s := range []*v1alpha1.RebalancePlanSpec{&o.Spec, &again} {
			for i := range s.Goals {
				s.Goals[i].Leaving = 0 // counts pods, and a plan names them
			}
		}
		if want, got := string(marshal(t, o.Spec)), string(marshal(t, again)); got != want {
			t.Fatalf("shown is\n%.3000s\nwant\n%.3000s", got, want)
		}
	})
}

// The outcomes of a stored pass are shown with its steps.
func TestAReportShowsWhatHappened(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := plan.Plan{ID: "p", TakenAt: at, Moves: []plan.Move{{Step: 1, Wave: 1, Pod: plan.PodRef{Namespace: "shop", Name: "a"}, From: "n1", To: "n2"},
		{Step: 2, Wave: 2, Pod: plan.PodRef{Namespace: "shop", Name: "b"}, From: "n1", To: "n3"}}}
	r := plan.RunReport{RunID: "r", Mode: plan.Live, Started: at, Plan: p, Outcomes: []plan.Outcome{{Step: 1, Pod: p.Moves[0].Pod, Outcome: plan.Evicted,
		Landed: "n3", ReadyAfter: "4s", At: at, Reason: plan.Reason{Code: plan.LandedElsewhere, Message: "n2 was predicted"}}}}
	o := record.PassObjects(&r, false)[0]
	shown := record.Shown(&o)
	if len(shown.Plan.Moves) != 2 || len(shown.Outcomes) != 1 || shown.RunID != "r" || !shown.Finished.IsZero() {
		t.Fatalf("shown are %d moves and %+v", len(shown.Plan.Moves), shown.Outcomes)
	}
	if got := shown.Outcomes[0]; got.Landed != "n3" || got.ReadyAfter != "4s" || got.Outcome != plan.Evicted || got.Reason.Code != plan.LandedElsewhere {
		t.Errorf("the outcome is %+v", got)
	}
}
