package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

func firstLine(t *testing.T, p plan.Plan, opts ...report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p, opts...); err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(b.String(), "\n")
	return line
}

// TestNothingToDo: that goals are met is said only of goals that there are.
func TestNothingToDo(t *testing.T) {
	type st = plan.StrategyState
	for want, all := range map[string][]st{
		"nothing to do: all 14 goals are met":                                                             {{Name: "zones", Goals: 10, Due: true}, {Name: "hot", Goals: 4, Due: true}},
		"nothing to do: the one goal is met":                                                              {{Name: "zones", Goals: 1, Due: true}, {Name: "hot"}},
		"nothing to do: no strategy states a goal":                                                        {{Name: "zones"}, {Name: "hot"}},
		"nothing to do: all 4 goals of hot are met":                                                       {{Name: "zones", Goals: 10}, {Name: "hot", Goals: 4, Due: true}},
		"nothing to do: no strategy that was asked for states a goal":                                     {{Name: "zones", Goals: 10}, {Name: "hot"}},
		"all 4 goals of hot are met; 1 goal of zones is not, and was not asked for":                       {{Name: "zones", Goals: 10, Unmet: 1}, {Name: "hot", Goals: 4, Due: true}},
		"the one goal of hot is met; 2 goals of zones are not, and were not asked for":                    {{Name: "zones", Goals: 10, Unmet: 2}, {Name: "hot", Goals: 1, Due: true}},
		"no strategy that was asked for states a goal; 1 goal of zones is not met, and was not asked for": {{Name: "zones", Goals: 10, Unmet: 1}, {Name: "hot"}},
	} {
		p := level()
		p.Strategies = all
		if got := firstLine(t, p); got != "Plan: "+want+"; nothing is evicted (dry run)." {
			t.Errorf("%+v:\n%s\nwant\n%s", all, got, want)
		}
	}
	if got := firstLine(t, level(), report.Options{Evicts: true}); !strings.HasSuffix(got, "met; nothing is evicted by this command; with this configuration `evenkeel run` evicts.") {
		t.Errorf("where a run evicts: %s", got)
	}
	p := level()
	p.Inputs = append(p.Inputs, plan.Input{Source: "memory", Problems: []string{"not known"}})
	if got := firstLine(t, p, report.Options{Evicts: true}); !strings.HasSuffix(got, "; with this configuration `evenkeel run` evicts only if it can read what is remembered, which this command could not.") {
		t.Errorf("where nobody knows what is remembered: %s", got)
	}
	if got := firstLine(t, p); !strings.HasSuffix(got, "; nothing is evicted (dry run).") {
		t.Errorf("where nobody knows what is remembered, in a dry run: %s", got)
	}
}

// TestAHeldStrategyIsNotCalledUnasked: somebody may well have asked for it.
func TestAHeldStrategyIsNotCalledUnasked(t *testing.T) {
	p := level()
	p.Strategies = []plan.StrategyState{{Name: "zones", Goals: 10, Unmet: 2}, {Name: "hot", Goals: 1, Due: true}}
	p.Blocks = []plan.EvictionBlock{{Strategy: "zones", Reason: plan.Reason{Code: plan.StrategyIneffective}}}
	want := "Plan: the one goal of hot is met; 2 goals of zones are not, and the strategy is held; nothing is evicted (dry run)."
	if got := firstLine(t, p); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestWhatEvictionsBring: goals that come nearer without being met are told from
// goals that nothing is done for.
func TestWhatEvictionsBring(t *testing.T) {
	for want, after := range map[string][]float64{
		"2 evictions level 1 of 1 goals":                    {0},
		"2 evictions bring 1 of 1 goals nearer, 0 met":      {1},
		"2 evictions bring 1 of 2 goals nearer, 0 met":      {1, 3},
		"2 evictions level 1 of 3 goals and bring 1 nearer": {0, 1, 3},
		"2 evictions level 1 of 2 goals":                    {0, 3},
	} {
		p := threeZones()
		one := p.Goals[0]
		p.Goals, p.After.Excess = nil, map[string]float64{}
		for i, v := range after {
			one.ID, one.Excess = string(rune('a'+i)), 3
			p.Goals, p.After.Excess[one.ID] = append(p.Goals, one), v
		}
		if got := firstLine(t, p); got != "Plan: "+want+"; proven minimum 2; nothing is evicted (dry run)." {
			t.Errorf("%v: %s\nwant %s", after, got, want)
		}
	}
	p := threeZones()
	p.Moves, p.After.Excess = p.Moves[:1], map[string]float64{"g1": 1}
	if got := firstLine(t, p); !strings.HasPrefix(got, "Plan: 1 eviction brings 1 of 1 goals nearer, 0 met; ") {
		t.Errorf("one eviction: %s", got)
	}
}

// TestWhoIsWorseOffIsSaid: a plan that levels nodes may take a workload's spread over
// zones from it, where no strategy keeps that.
func TestWhoIsWorseOffIsSaid(t *testing.T) {
	p := threeZones()
	for _, c := range []struct {
		was, is int
		want    string
	}{
		{3, 2, "; 1 workload would be hit harder by the loss of a zone than now (below)"},
		{4, 3, "; 1 workload would be hit harder by the loss of a zone than now (below)"},
		{2, 1, "; 1 workload would be hit harder by the loss of a zone than now (below)"},
		{2, 3, ""},
		{2, 2, ""},
	} {
		p.Before.Workloads[0].FailureCategory, p.After.Workloads[0].FailureCategory, p.After.Workloads[0].CategoryCertain = c.was, c.is, true
		if got := firstLine(t, p); got != "Plan: 2 evictions level 1 of 1 goals; proven minimum 2"+c.want+"; nothing is evicted (dry run)." {
			t.Errorf("from %d to %d: %s", c.was, c.is, got)
		}
	}
	p.Before.Workloads[0].FailureCategory, p.After.Workloads[0].FailureCategory, p.After.Workloads[0].CategoryCertain = 4, 3, false
	if got := firstLine(t, p); strings.Contains(got, "hit harder") {
		t.Errorf("3 or 4, which is not known: %s", got)
	}
}

// TestHeldPlansSaySoFirst, whether the configuration lets runs evict or not, and
// so does a run that was held.
func TestHeldPlansSaySoFirst(t *testing.T) {
	p := held()
	if got := firstLine(t, p); !strings.HasSuffix(got, "; held (Paused, BreakerOpen), and a dry run: nothing is evicted.") {
		t.Errorf("in dry run: %s", got)
	}
	if got := firstLine(t, p, report.Options{Evicts: true}); !strings.HasSuffix(got, "; held (Paused, BreakerOpen): nothing is evicted, by `evenkeel run` neither.") {
		t.Errorf("where a run evicts: %s", got)
	}
	p.Blocks = p.Blocks[2:]
	if got := firstLine(t, p); strings.Contains(got, "held") {
		t.Errorf("one strategy holds no other: %s", got)
	}
	dry := dryRun()
	dry.Plan = held()
	stopped := run(plan.Live, held(), outcome(1, "d-6f9c-x1", plan.Dropped, "", false), outcome(2, "d-6f9c-x2", plan.Dropped, "", false))
	stopped.Stopped = &stopped.Plan.Blocks[0].Reason
	for want, r := range map[string]plan.RunReport{
		"Run: 2 of 2 planned pods would be evicted, were it not held (Paused, BreakerOpen); nothing is evicted (dry run).\n": dry,
		"Run: held (Paused); 0 of 2 planned pods evicted; 2 dropped.\n":                                                      stopped,
	} {
		var b bytes.Buffer
		if err := report.Run(&b, report.Table, r); err != nil || !strings.HasPrefix(b.String(), want) {
			t.Errorf("%v:\n%s\nwant %s", err, b.String(), want)
		}
	}
}

// TestTimeThatNobodyNoted: a time taken from the objects is said to be that.
func TestTimeThatNobodyNoted(t *testing.T) {
	p := level()
	p.TakenAtEstimated = true
	var b bytes.Buffer
	if err := report.Plan(&b, report.Table, p); err != nil {
		t.Fatal(err)
	}
	if want := "State of 2026-01-01 00:00:00 UTC (newest time in the snapshot; it does not say when it was taken), Kubernetes 1.37; "; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
}
