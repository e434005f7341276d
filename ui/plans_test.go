package ui

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
)

// TestGoalsText checks that an automatic plan claims no goals of strategies whose moves wait for a person.
func TestGoalsText(t *testing.T) {
	s := &v1alpha1.RebalancePlanSpec{Mode: v1alpha1.ModeAutomatic, MoveCount: 2, Strategies: []v1alpha1.StrategySummary{
		{Name: "zones", Mode: v1alpha1.ModeAutomatic, Due: true, Unmet: 3, UnmetAfter: 1},
		{Name: "nodes", Mode: v1alpha1.ModeApprove, Due: true, Unmet: 5}}}
	if got, want := goalsText(s), "They would meet 2 of the 8 unmet goals."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
