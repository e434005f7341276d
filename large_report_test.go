package evenkeel_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

const largeConfig = `
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
strategies:
- {name: hot-nodes, type: NodeLoad, schedule: "*/10 * * * *", args: {target: {cpu: 0.1, memory: 0.1}}}
- {name: zones, type: ZoneSpread, schedule: "0 * * * *"}
limits: {perPass: 700, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited, perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
`

// TestReportOfLargeCluster checks that the table about 1,500 nodes, 7,000 pods and 700 moves fits 60 lines on terminals
// of any width, and has all that an operator needs.
func TestReportOfLargeCluster(t *testing.T) {
	p := planOfLargeCluster(t)
	for _, width := range []int{0, 80, 100, 120, 200} {
		var b bytes.Buffer
		if err := report.Plan(&b, report.Table, p, report.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) > 60 {
			t.Errorf("width %d: %d lines, want at most 60", width, len(lines))
		}
		if !strings.HasPrefix(b.String(), "Plan: 700 evictions ") {
			t.Errorf("width %d: the first line is %s", width, lines[0])
		}
		for _, l := range lines[1:] {
			if limit := max(width, 80); width > 0 && layout.Width(l) > limit {
				t.Errorf("width %d: a line has %d columns: %s", width, layout.Width(l), l)
			}
		}
		for _, section := range []string{"Strategies: ", "Zones: ", "Moves, in order (10 of 700 with the largest benefit)", "Not moved (", "Why goals stay unmet"} {
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, section) }) {
				t.Errorf("width %d: the report has no section %q:\n%s", width, section, b.String())
			}
		}
		if !slices.Contains(lines, "  ... and 690 more: -o wide") {
			t.Errorf("width %d: the report does not count the moves that it leaves out:\n%s", width, b.String())
		}
		t.Log(b.String())
	}
}

func planOfLargeCluster(t *testing.T) plan.Plan {
	t.Helper()
	c, err := config.Load("large.yaml", []byte(largeConfig))
	if err != nil {
		t.Fatal(err)
	}
	s, err := cluster.New(simulation.Uneven(rand.New(rand.NewPCG(1, 1)), 1500, 7000))
	if err != nil {
		t.Fatal(err)
	}
	return planner.New(c.PlannerOptions()).Plan(s, plan.PlannerState{}, controller.Goals(s, c.BuildStrategies(), nil), s.TakenAt)
}
