package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

func firstLine(t *testing.T, p plan.Plan, opts ...report.Options) string {
	t.Helper()
	return verdictOf(written(t, report.Plan, report.Table, p, opts...))
}

// verdictOf returns the answer of a report in numbers.
func verdictOf(text string) string {
	for line := range strings.Lines(text) {
		for _, question := range []string{"  What would happen? ", "  What happened? ", "  What happens now? "} {
			if answer, found := strings.CutPrefix(line, question); found {
				return strings.TrimSpace(answer)
			}
		}
	}
	return ""
}

// TestNothingToDo checks the first line of plans without moves. The line may say that
// goals are met only if goals exist.
func TestNothingToDo(t *testing.T) {
	type st = plan.StrategyState
	for want, all := range map[string][]st{
		"nothing to do: all 14 goals are met": {{Name: "zones", Goals: 10,
			Due: true}, {Name: "hot", Goals: 4, Due: true}},
		"nothing to do: the only goal is met": {{Name: "zones", Goals: 1, Due: true},
			{Name: "hot"}},
		"nothing to do: no strategy states a goal":          {{Name: "zones"}, {Name: "hot"}},
		"nothing to do: strategy crash found no violation":  {{Name: "crash", NoViolation: true}},
		"nothing to do: strategies a, b found no violation": {{Name: "a", NoViolation: true}, {Name: "b", NoViolation: true}},
		"nothing to do: strategy a found no violation; strategies zones, hot state no goal": {{Name: "zones"},
			{Name: "a", NoViolation: true}, {Name: "hot"}},
		"nothing to do: no strategy that is due states a goal; strategy a found no violation": {{Name: "zones", Goals: 4},
			{Name: "a", NoViolation: true}},
		"nothing to do: all 4 goals are met": {{Name: "zones", Goals: 4, Due: true}, {Name: "a", NoViolation: true}},
		"nothing to do: all 4 goals of hot are met": {{Name: "zones", Goals: 10},
			{Name: "hot", Goals: 4, Due: true}},
		"nothing to do: no strategy that is due states a goal": {{Name: "zones", Goals: 10},
			{Name: "hot"}},
		"all 4 goals of hot are met; 1 goal of zones is not met, but the strategy is not due": {{Name: "zones", Goals: 10, Unmet: 1},
			{Name: "hot", Goals: 4, Due: true}},
		"the only goal of hot is met; 2 goals of zones are not met, but the strategy is not due": {{Name: "zones", Goals: 10, Unmet: 2},
			{Name: "hot", Goals: 1, Due: true}},
		"no strategy that is due states a goal; 1 goal of zones is not met, but the strategy is not due": {{Name: "zones", Goals: 10, Unmet: 1},
			{Name: "hot"}},
	} {
		p := nothingToDoPlan()
		p.Strategies = all
		if got := firstLine(t, p); got != "Plan: "+want+"; dry run: nothing is evicted." {
			t.Errorf("%+v:\n%s\nwant\n%s", all, got, want)
		}
	}
	if got := firstLine(t, nothingToDoPlan(), report.Options{Evicts: true}); !strings.HasSuffix(got,
		"met; this command evicts nothing; with this configuration `evenkeel run` evicts.") {
		t.Errorf("with a configuration that evicts: %s", got)
	}
	p := nothingToDoPlan()
	p.Inputs = append(p.Inputs, plan.Input{Source: plan.PlannerStateSource, Problems: []string{"not known"}})
	if got := firstLine(t, p, report.Options{Evicts: true}); !strings.HasSuffix(got,
		", and it could not read the planner state; with this configuration `evenkeel run` evicts if it can read the state.") {
		t.Errorf("with unknown planner state: %s", got)
	}
	if got := firstLine(t, p); !strings.HasSuffix(got, "; dry run: nothing is evicted.") {
		t.Errorf("with unknown planner state, in a dry run: %s", got)
	}
}

// TestMetAndImprovedGoals checks that the first line counts improved goals and met goals separately.
func TestMetAndImprovedGoals(t *testing.T) {
	for want, after := range map[string][]float64{
		"2 evictions meet 1 of 1 goals":               {0},
		"2 evictions improve 1 of 1 goals, 0 met":     {1},
		"2 evictions improve 1 of 2 goals, 0 met":     {1, 3},
		"2 evictions meet 1 of 3 goals and improve 1": {0, 1, 3},
		"2 evictions meet 1 of 2 goals":               {0, 3},
	} {
		p := threeZonesPlan()
		one := p.Goals[0]
		p.Goals, p.After.Excess = nil, map[string]float64{}
		for i, v := range after {
			one.ID, one.Excess = string(rune('a'+i)), 3
			p.Goals, p.After.Excess[one.ID] = append(p.Goals, one), v
		}
		if got := firstLine(t, p); got != "Plan: "+want+"; lower bound 2; dry run: nothing is evicted." {
			t.Errorf("%v: %s\nwant %s", after, got, want)
		}
	}
	p := threeZonesPlan()
	p.Moves, p.After.Excess = p.Moves[:1], map[string]float64{"g1": 1}
	if got := firstLine(t, p); !strings.HasPrefix(got, "Plan: 1 eviction improves 1 of 1 goals, 0 met; ") {
		t.Errorf("one eviction: %s", got)
	}
}

// TestWorseFailureCategoriesAreCounted checks that the first line counts the workloads with a worse
// failure category after the plan. Only a ZoneSpread strategy prevents a worse category.
func TestWorseFailureCategoriesAreCounted(t *testing.T) {
	p := threeZonesPlan()
	for _, c := range []struct {
		was, is int
		want    string
	}{
		{3, 2, "1 workload would be hit harder by a zone failure."},
		{4, 3, "1 workload would be hit harder by a zone failure."},
		{2, 1, "1 workload would be hit harder by a zone failure."},
		{2, 3, "Nothing that is measured here."},
		{2, 2, "Nothing that is measured here."},
	} {
		p.Before.Workloads[0].FailureCategory, p.After.Workloads[0].FailureCategory, p.After.Workloads[0].CategoryCertain = c.was, c.is, true
		if got := written(t, report.Plan, report.Table, p); !strings.Contains(got, "  What gets worse?    "+c.want) {
			t.Errorf("from %d to %d: %s", c.was, c.is, got)
		}
	}
	p.Before.Workloads[0].FailureCategory, p.After.Workloads[0].FailureCategory, p.After.Workloads[0].CategoryCertain = 4, 3, false
	if got := written(t, report.Plan, report.Table, p); strings.Contains(got, "harder") {
		t.Errorf("with an uncertain category: %s", got)
	}
}

// TestBlockedEvictionsInFirstLine checks that the first line of a report says that evictions are blocked. The
// test uses plans with and without configured evictions, and runs.
func TestBlockedEvictionsInFirstLine(t *testing.T) {
	p := evictionsBlockedPlan()
	if got := firstLine(t, p); !strings.HasSuffix(got, "; dry run, and evictions are blocked (Paused, BreakerOpen): nothing is evicted.") {
		t.Errorf("in dry run: %s", got)
	}
	if got := firstLine(t, p, report.Options{Evicts: true}); !strings.HasSuffix(got,
		"; evictions are blocked (Paused, BreakerOpen): neither this command nor `evenkeel run` evicts.") {
		t.Errorf("with a configuration that evicts: %s", got)
	}
	p.Blocks = p.Blocks[2:]
	if got := firstLine(t, p); strings.Contains(got, "blocked") {
		t.Errorf("a suspended strategy must not block others: %s", got)
	}
	dry := dryRun()
	dry.Plan = evictionsBlockedPlan()
	stopped := newRun(plan.Live, evictionsBlockedPlan(), newOutcome(1, "d-6f9c-x1", plan.Dropped, "", false), newOutcome(2, "d-6f9c-x2", plan.Dropped, "",
		false))
	stopped.Stopped = &stopped.Plan.Blocks[0].Reason
	for want, r := range map[string]plan.RunReport{
		"Run: 2 of 2 planned pods would be evicted if evictions were not blocked (Paused, BreakerOpen); dry run: nothing is evicted.\n": dry,
		"Run: evictions are blocked (Paused); 0 of 2 planned pods evicted; 2 dropped.\n":                                                stopped,
	} {
		var b bytes.Buffer
		if err := report.Run(&b, report.Table, r); err != nil || verdictOf(b.String())+"\n" != want {
			t.Errorf("%v:\n%s\nwant %s", err, b.String(), want)
		}
	}
}

// TestEstimatedSnapshotTime checks that an estimated snapshot time is marked as estimated.
func TestEstimatedSnapshotTime(t *testing.T) {
	p := nothingToDoPlan()
	p.TakenAtEstimated = true
	var b bytes.Buffer
	must.Succeed(t, report.Plan(&b, report.Table, p))
	if want := "State of 2026-01-01 00:00:00 UTC (newest time in the snapshot; the snapshot does not record when it was taken), Kubernetes 1.37; "; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
	p.TakenAt, p.Expires = time.Time{}, time.Time{}
	b.Reset()
	if err := report.Plan(&b, report.Table, p); err != nil || !strings.Contains(b.String(), "The time of the state and all ages are unknown, because no object") {
		t.Errorf("without any time: %v\n%s", err, b.String())
	}
}

// TestIncompleteInputs checks that the first line does not call every goal met while an input does not cover every
// node.
func TestIncompleteInputs(t *testing.T) {
	for _, in := range []plan.Input{{Source: "metricsServer", Statistic: "p90", Coverage: 0.5}, {Source: "nodes", Coverage: 0.5}} {
		p := nothingToDoPlan()
		p.Inputs = append(p.Inputs, in)
		text := written(t, report.Plan, report.Table, p)
		if first := verdictOf(text); !strings.Contains(first, in.Source+" covers 50% of the nodes, and nothing is known of the others") {
			t.Errorf("%s: %s", in.Source, first)
		}
	}
}

// TestEachBlockIsNamedOnce checks that several blocks with the same words do not take the room of the moves.
func TestEachBlockIsNamedOnce(t *testing.T) {
	p := samplePlans()["evictions-blocked"]
	p.Blocks = append(p.Blocks, p.Blocks...)
	if head, _, _ := strings.Cut(written(t, report.Plan, report.Table, p), ". "); head != "▲ PAUSED, BREAKER OPEN" {
		t.Errorf("the report begins with %q", head)
	}
}
