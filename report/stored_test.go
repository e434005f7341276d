package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// storedPlan is a proposal with 10 goals, of which 5 are met. The object leaves out more goals.
func storedPlan(kind plan.GoalKind, unmet, after, omitted int32) *v1alpha1.RebalancePlan {
	taken := metav1.NewTime(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	o := &v1alpha1.RebalancePlan{ObjectMeta: metav1.ObjectMeta{Name: "20260102-000000-e2ec-proposal"}, Spec: v1alpha1.RebalancePlanSpec{ID: "e2ec", Mode: v1alpha1.ModeApprove,
		MoveCount: 300, TakenAt: taken, Expires: taken, Omitted: &v1alpha1.Omitted{Moves: 299, Goals: omitted},
		Strategies: []v1alpha1.StrategySummary{{Name: "s", Mode: v1alpha1.ModeApprove, Due: true, Goals: 500, Unmet: unmet, UnmetAfter: after}},
		Moves: []v1alpha1.Move{{Step: 1, Wave: 1, Strategy: "s", Pod: v1alpha1.PodReference{Namespace: "shop", Name: "a"}, From: "n1", To: "n2",
			Reason: v1alpha1.Reason{Code: string(plan.NodeOverUtilized)}}}}}
	for i := range 10 {
		g := v1alpha1.Goal{ID: fmt.Sprintf("g%d", i), Strategy: "s", Kind: string(kind), ExcessBefore: "1"}
		if i%2 > 0 {
			g.ExcessAfter = "1"
		}
		o.Spec.Goals = append(o.Spec.Goals, g)
	}
	return o
}

// TestStored checks that the reports of a stored plan count each goal once, with those that the object leaves out, and
// say how to approve the plan and what is left out.
func TestStored(t *testing.T) {
	for _, c := range []struct {
		o    *v1alpha1.RebalancePlan
		want []string
	}{
		{storedPlan(plan.PodAway, 100, 40, 50), []string{"100 of 500 goals are not met. 300 evictions would meet 60 of them", "299 moves and 50 unmet goals"}},
		{storedPlan(plan.NodeBelow, 400, 100, 390), []string{"400 of 500 goals are not met. 300 evictions would meet 300 of them", "299 moves and 390 unmet goals"}},
		{storedPlan(plan.NodeEmpty, 400, 395, 390), []string{"5 of 400 nodes with few requests would be emptied by 300 evictions"}},
	} {
		for _, format := range []report.Format{report.Table, report.Wide, report.Markdown, report.HTML} {
			var b strings.Builder
			if err := report.Stored(&b, format, c.o, &plan.Filter{}, report.Options{}); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			for _, want := range append(c.want, "evenkeel approve 20260102-000000-e2ec-proposal") {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in\n%.3000s", format, want, b.String())
				}
			}
		}
	}
}
