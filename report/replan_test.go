package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestReplanIsShown checks that a run report counts the moves of the replan and shows it below the first plan.
func TestReplanIsShown(t *testing.T) {
	rest := threeZonesPlan()
	rest.Moves = []plan.Move{newMove(3, "d-6f9c-x3", "n3", "n2")}
	r := newRun(plan.Live, threeZonesPlan(), newOutcome(1, "d-6f9c-x1", plan.Evicted, "n1", true), newOutcome(2, "d-6f9c-x2", plan.Evicted, "n3", false),
		newOutcome(3, "d-6f9c-x3", plan.Evicted, "n2", true))
	r.Replan = &rest
	var out bytes.Buffer
	must.Succeed(t, report.Run(&out, report.Table, r))
	first, second, found := strings.Cut(out.String(), "Replan, because a move failed or a replacement landed elsewhere: 1 eviction ")
	if !found || !strings.Contains(first, "Run: 3 of 3 planned pods evicted") || !strings.Contains(second, "d-6f9c-x3") {
		t.Errorf("the report does not show the replan:\n%s", out.String())
	}
}
