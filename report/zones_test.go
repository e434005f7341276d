package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestWorkloadsOnNodesWithoutZone checks that a report shows workloads whose nodes have no zone label.
func TestWorkloadsOnNodesWithoutZone(t *testing.T) {
	p := newPlan()
	w := workloadState("Deployment", "d", 1, 0, 0, 0)
	w.Zones = map[string]int{"": 3}
	p.Before.Workloads, p.After.Workloads = []plan.WorkloadState{w}, []plan.WorkloadState{w}
	text := written(t, report.Plan, report.Table, p)
	if !strings.Contains(text, "Deployment/shop/d") || !strings.Contains(text, "1 complete loss") {
		t.Errorf("the report does not show the complete loss of Deployment d:\n%s", text)
	}
}

// TestShortenedRunShowsZones checks that a shortened report of a run has the zones, and from and to where its moves go,
// on a small terminal with long names.
func TestShortenedRunShowsZones(t *testing.T) {
	p := newPlan()
	long := strings.Repeat("long-name-", 2)
	for i := range 40 {
		p.Moves = append(p.Moves, newMove(i+1, fmt.Sprint("web-", long, i), fmt.Sprint("from-", long, i), fmt.Sprint("to-", long, i)))
		n := nodeState(fmt.Sprint("node-", i), fmt.Sprint("zone-", i%3), 0.5, 0.5)
		p.Before.Nodes, p.After.Nodes = append(p.Before.Nodes, n), append(p.After.Nodes, n)
	}
	p.Strategies = []plan.StrategyState{{Name: "zones", Goals: 2, Unmet: 1}}
	r := plan.RunReport{RunID: "r", Mode: plan.DryRun, Plan: p}
	for _, m := range p.Moves {
		r.Outcomes = append(r.Outcomes, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.WouldEvict})
	}
	text := written(t, report.Run, report.Table, r, report.Options{Width: 80})
	if strings.Count(text, "\n") > maxTableLines || !strings.Contains(text, "\nZones: average") || !strings.Contains(text, "  zone-2") {
		t.Errorf("the report has no zones:\n%s", text)
	}
	if n := strings.Count(text, "TO: to-"+long); n != 10 || n != strings.Count(text, "from-"+long) {
		t.Errorf("%d moves say from and to where, want 10:\n%s", n, text)
	}
}
