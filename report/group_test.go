package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/report"
)

// TestGoalsOfGroups checks that the lines about a goal name its group of pods.
func TestGoalsOfGroups(t *testing.T) {
	p := threeZonesPlan()
	p.Goals[0].Group = "ReplicaSet d-6f9c\x1b[2J"
	p.Bound.ResidualByGoal = map[string]float64{p.Goals[0].ID: 1}
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Deployment/shop/d (ReplicaSet d-6f9c", "d (ReplicaSet d-6f9c\\x1b[2J), a skew of 1 over the limit"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("an escape sequence in\n%q", b.String())
	}
}

// TestExcessOfUncountedConflicts: a goal that does not count all conflicts shows minimums, also after the plan.
func TestExcessOfUncountedConflicts(t *testing.T) {
	for v, want := range map[float64]string{0: "at least 0 conflicts", 50: "at least 50 conflicts"} {
		if got := excessText(plan.Goal{Kind: plan.PodsApart, AtLeast: true}, v); got != want {
			t.Errorf("excess %v is written %q, want %q", v, got, want)
		}
	}
	if got := excessText(plan.Goal{Kind: plan.PodsApart}, 1); got != "1 conflict" {
		t.Errorf("a counted conflict is written %q", got)
	}
}
