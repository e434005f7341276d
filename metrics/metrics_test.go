package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestPassIsCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	start := time.Unix(1000, 0)
	m.RecordPass(plan.RunReport{Mode: plan.Live, Started: start, Finished: start.Add(3 * time.Second),
		Plan: plan.Plan{
			Moves: []plan.Move{{Step: 1, Strategy: "zones"}, {Step: 2, Strategy: "zones"}},
			Goals: []plan.Goal{{ID: "g1", Strategy: "zones"}, {ID: "g2", Strategy: "pack", Kind: plan.NodeEmpty},
				{ID: "g3", Strategy: "pack", Kind: plan.NodeEmpty}},
			After:      plan.State{Excess: map[string]float64{"g1": 0, "g2": 0, "g3": 2}},
			Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 4}},
			Proposals: []plan.Proposal{
				{Mode: plan.Approve, Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "hot"}, {Step: 2, Strategy: "hot"}}}},
				{Mode: plan.ShowOnly, Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "strict"}}}},
			},
		},
		Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted, Landed: "n1", LandedAsPredicted: true}, {Step: 2, Outcome: plan.Blocked}},
		Stopped:  &plan.Reason{Code: plan.ReplacementNotReady},
	})
	// A rejected pass is counted but leaves the plan gauges unchanged.
	m.RecordPass(
		plan.RunReport{Mode: plan.Live, Started: start, Finished: start.Add(4 * time.Second), Stopped: &plan.Reason{Code: plan.ClusterViewStale}},
	)
	// A recovered pass of an earlier process leaves the plan gauges unchanged.
	m.RecordPass(plan.RunReport{Mode: plan.Live, Started: start, Finished: start.Add(time.Hour), Stopped: &plan.Reason{Code: plan.Interrupted},
		Recovery: &plan.Recovery{
			Holder: "dead",
		}, Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "zones"}}}, Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.UnknownOutcome}}})
	m.RecordSkipped([]string{"zones"})
	want := `
# HELP evenkeel_evictions_total Moves by outcome and strategy. Only outcome=evicted removed a pod.
# TYPE evenkeel_evictions_total counter
evenkeel_evictions_total{outcome="blocked",strategy="zones"} 1
evenkeel_evictions_total{outcome="evicted",strategy="zones"} 1
evenkeel_evictions_total{outcome="unknown",strategy="zones"} 1
# HELP evenkeel_goals_unmet Goals with excess, by strategy, before the last plan and predicted after it. Nodes to empty do not count.
# TYPE evenkeel_goals_unmet gauge
evenkeel_goals_unmet{strategy="zones",when="before"} 1
# HELP evenkeel_landings_total Replacements that were seen, by whether they landed as predicted.
# TYPE evenkeel_landings_total counter
evenkeel_landings_total{as_predicted="true"} 1
# HELP evenkeel_last_pass_timestamp_seconds Unix time at which the last pass that made a plan finished.
# TYPE evenkeel_last_pass_timestamp_seconds gauge
evenkeel_last_pass_timestamp_seconds 1003
# HELP evenkeel_passes_total Passes by mode and stop reason (empty if the pass was not stopped).
# TYPE evenkeel_passes_total counter
evenkeel_passes_total{mode="live",stopped="ClusterViewStale"} 1
evenkeel_passes_total{mode="live",stopped="Interrupted"} 1
evenkeel_passes_total{mode="live",stopped="ReplacementNotReady"} 1
# HELP evenkeel_planned_moves Moves of the last plan, by strategy.
# TYPE evenkeel_planned_moves gauge
evenkeel_planned_moves{strategy="zones"} 2
# HELP evenkeel_proposed_moves Moves of the last plan for strategies in mode approve or dryRun, by mode and strategy. The pass does not execute them.
# TYPE evenkeel_proposed_moves gauge
evenkeel_proposed_moves{mode="approve",strategy="hot"} 2
evenkeel_proposed_moves{mode="dryRun",strategy="strict"} 1
# HELP evenkeel_rejected_pods Pods that could reduce excess but are not moved in the last plan, by reason code.
# TYPE evenkeel_rejected_pods gauge
evenkeel_rejected_pods{code="BlockedByPDB"} 4
# HELP evenkeel_schedule_skipped_total Number of times that a strategy was due while a pass was running.
# TYPE evenkeel_schedule_skipped_total counter
evenkeel_schedule_skipped_total{strategy="zones"} 1
# HELP evenkeel_underutilized_nodes Nodes that NodeConsolidation would empty, by strategy, before the last plan and predicted after it. Such a node may stay.
# TYPE evenkeel_underutilized_nodes gauge
evenkeel_underutilized_nodes{strategy="pack",when="after"} 1
evenkeel_underutilized_nodes{strategy="pack",when="before"} 2
`
	names := []string{
		"evenkeel_evictions_total",
		"evenkeel_goals_unmet",
		"evenkeel_landings_total",
		"evenkeel_last_pass_timestamp_seconds",
		"evenkeel_passes_total",
		"evenkeel_planned_moves",
		"evenkeel_proposed_moves",
		"evenkeel_rejected_pods",
		"evenkeel_schedule_skipped_total",
		"evenkeel_underutilized_nodes",
	}
	if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(m.Registry)
	if err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}

func TestBindingsAreCountedByScheduler(t *testing.T) {
	m := metrics.New("v1", "abc")
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 1}, false, false)
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 2, Predicted: 1, Hits: 1}, true, true)
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 3, Predicted: 2, Hits: 1}, false, true)
	m.RecordBinding("none", plan.SchedulerBindings{Seen: 1}, false, false)
	want := `
# HELP evenkeel_scheduler_bindings_total Bindings made by schedulers (at most 16 names), by result: the model predicted the node (hit), predicted another node (miss), or could not predict one (unclear).
# TYPE evenkeel_scheduler_bindings_total counter
evenkeel_scheduler_bindings_total{result="hit",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="miss",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="unclear",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="unclear",scheduler="none"} 1
# HELP evenkeel_scheduler_hit_ratio Share of predicted bindings that were correct, by scheduler, over the latest predictions (placement.trust.minBindings).
# TYPE evenkeel_scheduler_hit_ratio gauge
evenkeel_scheduler_hit_ratio{scheduler="fancy"} 0.5
`
	if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(want), "evenkeel_scheduler_bindings_total",
		"evenkeel_scheduler_hit_ratio"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(m.Registry)
	if err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
}

func TestWhatHoldsEvictionsIsShown(t *testing.T) {
	m := metrics.New("v1", "abc")
	compare := func(want string) {
		t.Helper()
		names := []string{
			"evenkeel_paused",
			"evenkeel_breaker_open",
		}
		var b strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
		got, err := m.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, f := range got {
			for _, x := range f.GetMetric() {
				if !slices.Contains(names, f.GetName()) {
					continue
				}
				lines.WriteString(f.GetName())
				for _, l := range x.GetLabel() {
					lines.WriteString(" " + l.GetValue())
				}
				fmt.Fprintf(&lines, " %g\n", x.GetGauge().GetValue())
			}
		}
		if lines.String() != b.String() {
			t.Errorf("got:\n%swant:\n%s", lines.String(), b.String())
		}
	}
	m.RecordPass(
		plan.RunReport{
			Plan: plan.Plan{
				Blocks: []plan.EvictionBlock{
					{Reason: plan.Reason{Code: plan.Paused}},
				},
			},
		},
	)
	compare(`
		evenkeel_breaker_open 0
		evenkeel_paused 1`)
	// The breaker opens during a pass.
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.BreakerOpen}})
	compare("evenkeel_breaker_open 1\nevenkeel_paused 0")
	m.RecordPass(
		plan.RunReport{
			Plan:    plan.Plan{Blocks: []plan.EvictionBlock{{Reason: plan.Reason{Code: plan.BreakerOpen}}}},
			Stopped: &plan.Reason{Code: plan.Paused},
		},
	)
	compare("evenkeel_breaker_open 1\nevenkeel_paused 1")
	m.RecordPass(plan.RunReport{})
	compare("evenkeel_breaker_open 0\nevenkeel_paused 0")
}

// TestCausesOfNothingJudged checks that the gauge has a series for each possible cause, that it shows the causes of the
// last pass, and that an interrupted, a recovered or an approved pass leaves it unchanged.
func TestCausesOfNothingJudged(t *testing.T) {
	m := metrics.New("v", "h")
	compare := func(want ...plan.Code) {
		t.Helper()
		var text strings.Builder
		text.WriteString("# HELP evenkeel_nothing_judged 1 for each cause why the last pass could judge nothing, by reason code. " +
			"0 for all other causes.\n# TYPE evenkeel_nothing_judged gauge\n")
		for _, code := range plan.NothingJudgedCodes() {
			value := 0
			if slices.Contains(want, code) {
				value = 1
			}
			fmt.Fprintf(&text, "evenkeel_nothing_judged{cause=%q} %d\n", code, value)
		}
		if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(text.String()), "evenkeel_nothing_judged"); err != nil {
			t.Error(err)
		}
	}
	because := func(code plan.Code) plan.Plan { return plan.Plan{NothingJudged: []plan.Reason{{Code: code}}} }
	compare()
	m.RecordPass(plan.RunReport{Plan: because(plan.NoUsageData)})
	compare(plan.NoUsageData)
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.Interrupted}})
	m.RecordPass(plan.RunReport{Recovery: &plan.Recovery{}})
	m.RecordPass(plan.RunReport{Approval: &plan.Approval{}})
	compare(plan.NoUsageData)
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.PermissionMissing}, Plan: because(plan.PermissionMissing)})
	compare(plan.PermissionMissing)
	m.RecordPass(plan.RunReport{})
	compare()
}

// TestWaitingPlansAreCounted: after a problem the gauge keeps its values, and without a waiting plan it is empty.
func TestWaitingPlansAreCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	record := func(w *plan.Waiting, gauges string) {
		t.Helper()
		m.RecordPass(plan.RunReport{Mode: plan.Live, Waiting: w})
		if err := testutil.GatherAndCompare(m.Registry, strings.NewReader(gauges+`
# HELP evenkeel_plans_announced_total Plans that wait for approval and have a move that was not announced before.
# TYPE evenkeel_plans_announced_total counter
evenkeel_plans_announced_total 1
`), "evenkeel_waiting_moves", "evenkeel_plans_announced_total"); err != nil {
			t.Error(err)
		}
	}
	const two = `
# HELP evenkeel_waiting_moves Moves that wait for approval after the last pass, by strategy.
# TYPE evenkeel_waiting_moves gauge
evenkeel_waiting_moves{strategy="hot"} 1
evenkeel_waiting_moves{strategy="zones"} 5
`
	record(&plan.Waiting{Plans: []plan.WaitingPlan{{Strategies: map[string]int{"zones": 2}, Announced: true},
		{Strategies: map[string]int{"zones": 3, "hot": 1}}}}, two)
	record(&plan.Waiting{Problem: &plan.Reason{Code: plan.StateUnavailable}}, two)
	record(nil, "")
}
