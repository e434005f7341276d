package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/plan"
)

func TestPassIsCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	m.SetStrategies([]string{"zones", "pack", "hot", "strict"})
	start := time.Unix(1000, 0)
	m.RecordPass(plan.RunReport{Mode: plan.Live, Started: start, Finished: start.Add(3 * time.Second),
		Plan: plan.Plan{
			Strategies: []plan.StrategyState{{Name: "zones", Goals: 7, Unmet: 1, Due: true}, {Name: "pack", Goals: 2, Unmet: 2, Due: true, NodesToEmpty: 2},
				{Name: "hot", Mode: plan.Approve, Goals: 4, Unmet: 4, Due: true}, {Name: "strict", Mode: plan.ShowOnly, Goals: 5, Unmet: 3, Due: true}},
			Moves: []plan.Move{{Step: 1, Strategy: "zones"}, {Step: 2, Strategy: "zones"}},
			Goals: []plan.Goal{{ID: "g1", Strategy: "zones"}, {ID: "g2", Strategy: "pack", Kind: plan.NodeEmpty},
				{ID: "g3", Strategy: "pack", Kind: plan.NodeEmpty}},
			After:      plan.State{Excess: map[string]float64{"g1": 0, "g2": 0, "g3": 2}},
			Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.BlockedByPDB: 4}},
			Proposals: []plan.Proposal{
				{Mode: plan.Approve, Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "hot"}, {Step: 2, Strategy: "hot"}},
					Goals:    []plan.Goal{{ID: "g1", Strategy: "hot"}, {ID: "g2", Strategy: "hot", Kind: plan.PodAway}},
					PodGoals: []plan.PodGoals{{Strategy: "hot", Unmet: 3, UnmetAfter: 1}}, Rejections: plan.Rejections{Counts: map[plan.Code]int{plan.MultiplePDBs: 3}},
					After: plan.State{Excess: map[string]float64{"g1": 0, "g2": 1}}}},
				{Mode: plan.ShowOnly, Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "strict"}},
					Goals: []plan.Goal{{ID: "g1", Strategy: "strict"}, {ID: "g2", Strategy: "strict"}, {ID: "g3", Strategy: "zones"}},
					After: plan.State{Excess: map[string]float64{"g1": 1, "g2": 1, "g3": 1}}}},
			},
		},
		Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted, Landed: "n1", LandedAsPredicted: true, ReadyAfter: "1.5s"}, {Step: 2, Outcome: plan.Blocked}},
		Stopped:  &plan.Reason{Code: plan.BreakerOpen},
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
	// An approved plan of another process may name any strategy.
	m.RecordPass(plan.RunReport{Mode: plan.Live, Started: start, Finished: start.Add(3 * time.Second), Approval: &plan.Approval{},
		Plan: plan.Plan{Moves: []plan.Move{{Step: 1, Strategy: "of another configuration"}}}, Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}})
	compare(t, m, `
evenkeel_passes_total{mode="dryRun",stopped="none"} 0
evenkeel_passes_total{mode="live",stopped="APIError"} 0
evenkeel_passes_total{mode="live",stopped="APIThrottled"} 0
evenkeel_passes_total{mode="live",stopped="AlertFiring"} 0
evenkeel_passes_total{mode="live",stopped="AlertsUnknown"} 0
evenkeel_passes_total{mode="live",stopped="BreakerOpen"} 1
evenkeel_passes_total{mode="live",stopped="ClusterViewStale"} 1
evenkeel_passes_total{mode="live",stopped="Interrupted"} 1
evenkeel_passes_total{mode="live",stopped="NotLeading"} 0
evenkeel_passes_total{mode="live",stopped="OtherReleaseActive"} 0
evenkeel_passes_total{mode="live",stopped="OutcomeUnknown"} 0
evenkeel_passes_total{mode="live",stopped="PassTimeout"} 0
evenkeel_passes_total{mode="live",stopped="Paused"} 0
evenkeel_passes_total{mode="live",stopped="PermissionMissing"} 0
evenkeel_passes_total{mode="live",stopped="PlanRefused"} 0
evenkeel_passes_total{mode="live",stopped="StateUnavailable"} 0
evenkeel_passes_total{mode="live",stopped="none"} 1

evenkeel_last_pass_timestamp_seconds 1003

evenkeel_skipped_firings_total{strategy="hot"} 0
evenkeel_skipped_firings_total{strategy="pack"} 0
evenkeel_skipped_firings_total{strategy="strict"} 0
evenkeel_skipped_firings_total{strategy="zones"} 1

evenkeel_evictions_total{strategy="hot"} 0
evenkeel_evictions_total{strategy="other"} 1
evenkeel_evictions_total{strategy="pack"} 0
evenkeel_evictions_total{strategy="strict"} 0
evenkeel_evictions_total{strategy="zones"} 1

evenkeel_landings_total{as_predicted="false"} 0
evenkeel_landings_total{as_predicted="true"} 1

evenkeel_planned_moves{mode="approve",strategy="hot"} 2
evenkeel_planned_moves{mode="automatic",strategy="pack"} 0
evenkeel_planned_moves{mode="automatic",strategy="zones"} 2
evenkeel_planned_moves{mode="dryRun",strategy="strict"} 1

evenkeel_goals{strategy="hot"} 4
evenkeel_goals{strategy="pack"} 0
evenkeel_goals{strategy="strict"} 5
evenkeel_goals{strategy="zones"} 7

evenkeel_unmet_goals{strategy="hot"} 4
evenkeel_unmet_goals{strategy="pack"} 0
evenkeel_unmet_goals{strategy="strict"} 3
evenkeel_unmet_goals{strategy="zones"} 1

evenkeel_predicted_unmet_goals{strategy="hot"} 1
evenkeel_predicted_unmet_goals{strategy="pack"} 0
evenkeel_predicted_unmet_goals{strategy="strict"} 2
evenkeel_predicted_unmet_goals{strategy="zones"} 0

evenkeel_underutilized_nodes{strategy="hot"} 0
evenkeel_underutilized_nodes{strategy="pack"} 2
evenkeel_underutilized_nodes{strategy="strict"} 0
evenkeel_underutilized_nodes{strategy="zones"} 0

evenkeel_predicted_underutilized_nodes{strategy="hot"} 0
evenkeel_predicted_underutilized_nodes{strategy="pack"} 1
evenkeel_predicted_underutilized_nodes{strategy="strict"} 0
evenkeel_predicted_underutilized_nodes{strategy="zones"} 0

evenkeel_rejected_pods{mode="approve",reason="MultiplePDBs"} 3
evenkeel_rejected_pods{mode="automatic",reason="BlockedByPDB"} 4
`)
	if got := valueOf(t, m, `evenkeel_moves_total{outcome="blocked",strategy="zones"}`); got != 1 {
		t.Errorf("blocked moves: %g", got)
	}
	if got := valueOf(t, m, `evenkeel_moves_total{outcome="unknown",strategy="zones"}`); got != 1 {
		t.Errorf("unknown outcomes: %g", got)
	}
	if got := valueOf(t, m, `evenkeel_replacement_ready_seconds_sum`); got != 1.5 {
		t.Errorf("seconds until Ready: %g", got)
	}
	m.SetStrategies([]string{"zones"}) // the others are no longer configured
	m.RecordPass(plan.RunReport{Mode: plan.Live, Plan: plan.Plan{Strategies: []plan.StrategyState{{Name: "zones", Goals: 7},
		{Name: "strict", Mode: plan.ShowOnly, Goals: 5, Unmet: 3}, // it is not due, so it keeps its last prediction
		{Name: "new", Goals: 5, Unmet: 3}}}})                      // it was never due
	compare(t, m, `
evenkeel_evictions_total{strategy="other"} 1
evenkeel_evictions_total{strategy="zones"} 1

evenkeel_planned_moves{mode="automatic",strategy="new"} 0
evenkeel_planned_moves{mode="automatic",strategy="zones"} 0
evenkeel_planned_moves{mode="dryRun",strategy="strict"} 0

evenkeel_unmet_goals{strategy="new"} 3
evenkeel_unmet_goals{strategy="strict"} 3
evenkeel_unmet_goals{strategy="zones"} 0

evenkeel_predicted_unmet_goals{strategy="strict"} 2
evenkeel_predicted_unmet_goals{strategy="zones"} 0

evenkeel_rejected_pods{mode="approve",reason="MultiplePDBs"} 0
evenkeel_rejected_pods{mode="automatic",reason="BlockedByPDB"} 0
`)
}

func TestBindingsAreCountedByScheduler(t *testing.T) {
	m := metrics.New("v1", "abc")
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 1}, 2, false, false)
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 2, Predicted: 1, Hits: 1}, 2, true, true)
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 3, Predicted: 2, Hits: 1}, 2, false, true)
	m.RecordBinding("none", plan.SchedulerBindings{Seen: 1}, 2, false, false)
	compare(t, m, `
evenkeel_scheduler_bindings_total{result="hit",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="miss",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="unclear",scheduler="fancy"} 1
evenkeel_scheduler_bindings_total{result="unclear",scheduler="none"} 1

evenkeel_scheduler_hit_ratio{scheduler="fancy"} 0.5
`)
	m.RecordBinding("fancy", plan.SchedulerBindings{Seen: 1, Predicted: 1}, 2, false, true) // with another model
	if n, err := testutil.GatherAndCount(m.Registry, "evenkeel_scheduler_hit_ratio"); n != 0 || err != nil {
		t.Errorf("%d ratios from one of 2 predictions, error %v", n, err)
	}
}

// TestStateIsUnknownWithoutTheLease checks that a process without the Lease shows neither the pause nor the breaker.
func TestStateIsUnknownWithoutTheLease(t *testing.T) {
	m := metrics.New("v1", "abc")
	state := []string{"evenkeel_other_deschedulers", "evenkeel_paused", "evenkeel_breaker_open", "evenkeel_backoff_workloads", "evenkeel_next_pass_timestamp_seconds"}
	absent := func() {
		t.Helper()
		if n, err := testutil.GatherAndCount(m.Registry, state...); n != 0 || err != nil {
			t.Errorf("%d series, error %v", n, err)
		}
	}
	absent()
	m.SetLeading(true)
	absent()
	m.RecordPause(true, true)
	m.RecordState(true, []time.Time{time.Now().Add(time.Hour), time.Now().Add(time.Hour)})
	m.RecordOtherDeschedulers(2)
	m.RecordNextPasses(map[string]time.Time{"zones": time.Unix(10, 0)})
	compare(t, m, `
evenkeel_other_deschedulers 2

evenkeel_paused 1

evenkeel_breaker_open 1

evenkeel_backoff_workloads 2

evenkeel_next_pass_timestamp_seconds{strategy="zones"} 10
`)
	m.RecordPause(false, false)
	if n, err := testutil.GatherAndCount(m.Registry, "evenkeel_paused"); n != 0 || err != nil {
		t.Errorf("an unknown pause has %d series, error %v", n, err)
	}
	m.SetLeading(false)
	absent()
	// The end of a pass that went on without the Lease.
	m.RecordPause(true, true)
	m.RecordState(true, nil)
	m.RecordOtherDeschedulers(2)
	m.RecordNextPasses(map[string]time.Time{"zones": time.Unix(10, 0)})
	absent()
}

// TestBackoffsEndBetweenPasses checks that a back-off counts until its end, also if no pass follows.
func TestBackoffsEndBetweenPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New("v1", "abc")
		m.SetLeading(true)
		m.RecordState(false, []time.Time{time.Now().Add(-time.Minute), time.Now().Add(time.Minute), time.Now().Add(time.Hour)})
		compare(t, m, "evenkeel_backoff_workloads 2")
		time.Sleep(time.Minute)
		compare(t, m, "evenkeel_backoff_workloads 1")
	})
}

// TestTheScoreIsUnknownWhenNothingIsJudged checks that a pass that could not read the cluster removes the score, and
// that an interrupted one keeps it.
func TestTheScoreIsUnknownWhenNothingIsJudged(t *testing.T) {
	m := metrics.New("v1", "abc")
	scores := func(want int) {
		t.Helper()
		n, err := testutil.GatherAndCount(m.Registry, "evenkeel_balance_score", "evenkeel_predicted_balance_score", "evenkeel_balance_lost_points")
		if n != want || err != nil {
			t.Errorf("%d series of the score, want %d; error %v", n, want, err)
		}
	}
	even := plan.State{Balance: &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceGoals}}}}
	m.RecordPass(plan.RunReport{Plan: plan.Plan{Before: even, After: even}})
	scores(3)
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.Interrupted}})
	m.RecordPass(plan.RunReport{Approval: &plan.Approval{}})
	scores(3)
	stale := plan.Reason{Code: plan.ClusterViewStale}
	m.RecordPass(plan.RunReport{Stopped: &stale, Plan: plan.Plan{NothingJudged: []plan.Reason{stale}}})
	scores(0)
}

// TestRefusedRequestsBeginAtZero checks that the counters of refused requests exist before the first refusal.
func TestRefusedRequestsBeginAtZero(t *testing.T) {
	m := metrics.New("v1", "abc")
	m.ObserveClients()
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if got := valueOf(t, m, fmt.Sprintf("rest_client_requests_total{code=%q,method=%q}", "403", method)); got != 0 {
			t.Errorf("%s: %g", method, got)
		}
	}
}

// TestCausesOfNothingJudged checks that the gauge has a series for each possible cause, that it shows the causes of the
// last pass, and that an interrupted, a recovered or an approved pass leaves it unchanged.
func TestCausesOfNothingJudged(t *testing.T) {
	m := metrics.New("v1", "h")
	judged := func(want ...plan.Code) {
		t.Helper()
		var text strings.Builder
		for _, code := range slices.Sorted(slices.Values(plan.NothingJudgedCodes())) {
			value := 0
			if slices.Contains(want, code) {
				value = 1
			}
			fmt.Fprintf(&text, "evenkeel_nothing_judged{reason=%q} %d\n", code, value)
		}
		compare(t, m, text.String())
	}
	because := func(code plan.Code) plan.Plan { return plan.Plan{NothingJudged: []plan.Reason{{Code: code}}} }
	judged()
	m.RecordPass(plan.RunReport{Plan: because(plan.NoUsageData)})
	judged(plan.NoUsageData)
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.Interrupted}})
	m.RecordPass(plan.RunReport{Recovery: &plan.Recovery{}})
	m.RecordPass(plan.RunReport{Approval: &plan.Approval{}})
	judged(plan.NoUsageData)
	m.RecordPass(plan.RunReport{Stopped: &plan.Reason{Code: plan.PermissionMissing}, Plan: because(plan.PermissionMissing)})
	judged(plan.PermissionMissing)
	m.RecordPass(plan.RunReport{})
	judged()
}

// TestWaitingPlansAreCounted: after a problem the gauge keeps its values, and without a waiting plan it is 0.
func TestWaitingPlansAreCounted(t *testing.T) {
	m := metrics.New("v1", "abc")
	strategies := []plan.StrategyState{{Name: "zones", Mode: plan.Approve}, {Name: "hot", Mode: plan.Approve}, {Name: "pack"}}
	record := func(w *plan.Waiting, zones, hot int) {
		t.Helper()
		m.RecordPass(plan.RunReport{Mode: plan.Live, Waiting: w, Plan: plan.Plan{Strategies: strategies}})
		compare(t, m, fmt.Sprintf(`
evenkeel_plans_announced_total 1

evenkeel_waiting_moves{strategy="hot"} %d
evenkeel_waiting_moves{strategy="zones"} %d
`, hot, zones))
	}
	record(&plan.Waiting{Plans: []plan.WaitingPlan{{Strategies: map[string]int{"zones": 2}, Announced: true},
		{Strategies: map[string]int{"zones": 3, "hot": 1}}}}, 5, 1)
	record(&plan.Waiting{Problem: &plan.Reason{Code: plan.StateUnavailable}}, 5, 1)
	record(nil, 0, 0)
	m.RecordWaiting(map[string]int{"zones": 2, "hot": 0})
	compare(t, m, `
evenkeel_waiting_moves{strategy="hot"} 0
evenkeel_waiting_moves{strategy="zones"} 2
`)
}

// compare checks that the metrics that want names have exactly the series in want.
func compare(t *testing.T, m *metrics.Metrics, want string) {
	t.Helper()
	for _, of := range strings.Split(strings.TrimSpace(want), "\n\n") {
		name, _, _ := strings.Cut(of, " ")
		name, _, _ = strings.Cut(name, "{")
		var got []string
		for _, line := range exposed(t, m) {
			if rest, is := strings.CutPrefix(line, name); is && (rest[0] == ' ' || rest[0] == '{') {
				got = append(got, line)
			}
		}
		if text := strings.Join(got, "\n"); text != strings.TrimSpace(of) {
			t.Errorf("got:\n%s\nwant:\n%s", text, of)
		}
	}
}

// valueOf returns the value of one series.
func valueOf(t *testing.T, m *metrics.Metrics, series string) (value float64) {
	t.Helper()
	for _, line := range exposed(t, m) {
		if rest, is := strings.CutPrefix(line, series+" "); is {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("no series %s", series)
	return 0
}

// exposed returns the lines of the text format, without comments.
func exposed(t *testing.T, m *metrics.Metrics) (lines []string) {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range strings.Split(strings.TrimSpace(answer.Body.String()), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
