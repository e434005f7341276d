package report_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestGoalsOfGroups checks that the lines about a goal name its group of pods.
func TestGoalsOfGroups(t *testing.T) {
	p := threeZonesPlan()
	p.Goals[0].Group = "ReplicaSet d-6f9c\x1b[2J"
	p.Bound.ResidualByGoal = map[string]float64{p.Goals[0].ID: 1}
	text := written(t, report.Plan, report.Table, p)
	for _, want := range []string{"Deployment/shop/d (ReplicaSet d-6f9c", "d (ReplicaSet d-6f9c\\x1b[2J), a skew of 1 over the limit"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("an escape sequence in\n%q", text)
	}
}

// TestExcessOfUncountedConflicts: a goal that does not count all conflicts shows minimums, also after the plan.
func TestExcessOfUncountedConflicts(t *testing.T) {
	p := threeZonesPlan()
	g := &p.Goals[0]
	g.Kind, g.Limit, g.TopologyKey, g.Excess = plan.PodsApart, 0, "", 50
	p.After.Excess[g.ID] = 0
	for atLeast, want := range map[bool]string{false: "  50 conflicts    met\n", true: "  at least 50 conflicts  at least 0 conflicts\n"} {
		g.AtLeast = atLeast
		text := written(t, report.Plan, report.Table, p)
		if !strings.Contains(text, want) {
			t.Errorf("AtLeast %v: want %q in\n%s", atLeast, want, text)
		}
	}
}
