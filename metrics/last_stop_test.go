package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestLastStop checks that the gauge is about the last pass of a schedule: an execution of approved steps does not
// change it, and a pass in mode dryRun sets it to 0. A process without the Lease has no gauge.
func TestLastStop(t *testing.T) {
	pass := func(mode plan.Mode, stopped plan.Code) plan.RunReport {
		r := plan.RunReport{Mode: mode, Started: time.Unix(1000, 0), Finished: time.Unix(1001, 0), Plan: plan.Plan{ConfigHash: "abc"}}
		if stopped != "" {
			r.Stopped = &plan.Reason{Code: stopped}
		}
		return r
	}
	approved := pass(plan.Live, "")
	approved.Approval = &plan.Approval{}
	recovered := pass(plan.Live, plan.Interrupted)
	recovered.Recovery = &plan.Recovery{}
	for name, c := range map[string]struct {
		reports []plan.RunReport
		lost    bool // the Lease
		want    string
	}{
		"no pass":                           {want: "absent"},
		"a stopped pass":                    {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive)}, want: "OtherReleaseActive"},
		"an approved plan after it":         {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive), approved}, want: "OtherReleaseActive"},
		"a recovered pass after it":         {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive), recovered}, want: "OtherReleaseActive"},
		"another reason after it":           {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive), pass(plan.Live, plan.APIError)}, want: "APIError"},
		"a complete pass after it":          {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive), pass(plan.Live, "")}},
		"a dry run":                         {reports: []plan.RunReport{pass(plan.DryRun, plan.APIError)}},
		"the Lease is lost after the pass":  {reports: []plan.RunReport{pass(plan.Live, plan.OtherReleaseActive)}, lost: true, want: "absent"},
		"a refused plan that was approved":  {reports: []plan.RunReport{{Mode: plan.Live, Stopped: &plan.Reason{Code: plan.PlanRefused}, Approval: &plan.Approval{}}}, want: "absent"},
		"a dry run after a stopped pass":    {reports: []plan.RunReport{pass(plan.Live, plan.APIError), pass(plan.DryRun, "")}},
		"a pass that had no more time":      {reports: []plan.RunReport{pass(plan.Live, plan.PassTimeout)}, want: "PassTimeout"},
		"a pass that ended before planning": {reports: []plan.RunReport{{Mode: plan.Live, Stopped: &plan.Reason{Code: plan.StateUnavailable}}}, want: "StateUnavailable"},
	} {
		m := metrics.New("v1", "abc")
		for _, r := range c.reports {
			m.RecordPass(r)
		}
		if c.lost {
			m.SetLeading(false)
		}
		if got := lastStops(t, m); got != c.want {
			t.Errorf("%s: the last pass was stopped by %q, want %q", name, got, c.want)
		}
	}
}

// lastStops returns the reasons whose gauge is 1.
func lastStops(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	families := must.Get(m.Registry.Gather())(t)
	var reasons []string
	for _, f := range families {
		if f.GetName() != "evenkeel_last_pass_stopped" {
			continue
		}
		for _, s := range f.GetMetric() {
			if s.GetGauge().GetValue() == 1 {
				reasons = append(reasons, s.GetLabel()[0].GetValue())
			}
		}
	}
	switch n := testutil.CollectAndCount(m.Registry, "evenkeel_last_pass_stopped"); n {
	case 0:
		return "absent"
	case len(plan.StopCodes()):
		return strings.Join(reasons, ",")
	default:
		t.Errorf("%d series, want one for each of %d reasons", n, len(plan.StopCodes()))
		return ""
	}
}
