package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report"
)

// pastPlan is a plan with four moves: one landed as predicted and one elsewhere, one was blocked, and one moved the
// replacement of the first.
func pastPlan() *v1alpha1.RebalancePlan {
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260102-110000-8f3a91c2", CreationTimestamp: *before(time.Hour)},
		Spec: v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeApprove, StrategyNames: "zones,cpu", MoveCount: 6, Score: "81.0 -> 93.1"}}
	o.Status = v1alpha1.RebalancePlanStatus{Phase: v1alpha1.PhaseStopped, Started: before(time.Hour), Evicted: 3, AsPredicted: 2,
		Stopped: &v1alpha1.Reason{Code: "PassTimeout", Message: "the pass took longer than 10m"}}
	ref := func(name string) v1alpha1.PodReference {
		return v1alpha1.PodReference{Namespace: "shop", Name: name, UID: "uid-" + name}
	}
	for i, m := range []struct{ pod, to, landed, replacement, why string }{
		{"web-a", "n1", "n1", "web-b", ""}, {"web-c", "n1", "n3", "web-d", "landed on n3, which was not predicted (n1)"},
		{"web-e", "n1", "", "", "budget web permits no eviction"}, {"web-b", "n2", "n2", "web-f", ""},
	} {
		step := int32(i + 1)
		o.Spec.Moves = append(o.Spec.Moves, v1alpha1.Move{Step: step, Pod: ref(m.pod), Owner: v1alpha1.ObjectReference{Kind: "Deployment", Name: "web"},
			Strategy: []string{"zones", "cpu"}[i%2], From: fmt.Sprint("n", i), To: m.to, Reason: v1alpha1.Reason{Code: "ZoneSkewed"}})
		x := v1alpha1.StepStatus{Step: step, State: v1alpha1.StepBlocked, Reason: &v1alpha1.Reason{Code: "BlockedByPDB", Message: m.why}}
		if m.landed != "" {
			by := ref(m.replacement)
			x = v1alpha1.StepStatus{Step: step, State: v1alpha1.StepEvicted, EvictedAt: before(time.Hour - time.Duration(i)*time.Minute), Replacement: &by,
				Landed: m.landed, AsPredicted: m.why == "", ReadyAfter: &metav1.Duration{Duration: 5 * time.Second}, DecidedBy: "alice"}
			if m.why != "" {
				x.Reason = &v1alpha1.Reason{Code: "LandedElsewhere", Message: m.why}
			}
		}
		o.Status.Steps = append(o.Status.Steps, x)
	}
	o.Spec.Moves = append(o.Spec.Moves, v1alpha1.Move{Step: 5, Pod: ref("web-x")}) // without an outcome
	return o
}

// TestHistory compares the lists of passes and moves with testdata/history.txt.
func TestHistory(t *testing.T) {
	o := pastPlan()
	moves := record.PastMoves(o)
	if len(moves) != 4 {
		t.Fatalf("%d moves, want the 4 with an outcome", len(moves))
	}
	is := func(p v1alpha1.PodReference) bool { return p.Name == "web-b" }
	chain := record.Chain(moves, is)
	if len(chain) != 2 || chain[0].Pod.Name != "web-b" || chain[0].ReplacementOf.Name != "web-a" {
		t.Errorf("the chain of web-b: %+v, want its move, and before it that of web-a", chain)
	}
	slices.Reverse(moves)
	counts := func(moves []record.PastMove) report.MoveCounts {
		c := report.MoveCounts{}
		for i := range moves {
			c.Add(&moves[i])
		}
		return c
	}
	var out bytes.Buffer
	for _, h := range []report.History{
		{Since: releaseNow.Add(-24 * time.Hour), Plans: []v1alpha1.RebalancePlan{*o}, Counts: counts(moves), Oldest: releaseNow.Add(-30 * 24 * time.Hour), Omitted: 2},
		{Since: releaseNow.Add(-24 * time.Hour), Oldest: releaseNow.Add(-30 * 24 * time.Hour)},
		{},
		{Subject: "pod shop/web-b", Moves: chain, Counts: counts(chain), Oldest: releaseNow.Add(-time.Hour)},
		{Subject: "pod shop/web-x", Oldest: releaseNow.Add(-time.Hour)},
		{Since: releaseNow.Add(-24 * time.Hour), Subject: "all pods", Moves: moves, Counts: counts(moves), Oldest: releaseNow.Add(-time.Hour)},
		{Subject: "workload deployment/shop/web", Moves: moves, Counts: counts(moves), Oldest: releaseNow.Add(-time.Hour)},
	} {
		h.Now = releaseNow
		must.Succeed(t, report.WriteHistory(&out, report.Table, h, report.Options{}))
		fmt.Fprintln(&out, "==")
	}
	h := report.History{Subject: "pod shop/web-b", Moves: chain[:1]}
	must.Succeed(t, report.WriteHistory(&out, report.YAML, h, report.Options{}))
	golden.Equal(t, "testdata/history.txt", out.Bytes())
}
