package report_test

import (
	"bytes"
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
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Deployment/shop/d") || !strings.Contains(b.String(), "1 complete loss") {
		t.Errorf("the report does not show the complete loss of Deployment d:\n%s", b.String())
	}
}
