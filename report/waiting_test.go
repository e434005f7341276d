package report_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// TestMissingUsageData checks that the report says that a strategy has no usage data, not that the
// strategy has no goals.
func TestMissingUsageData(t *testing.T) {
	type st = plan.StrategyState
	hot := st{Name: "hot", NoData: "no usage data from metricsServer"}
	for want, all := range map[string][]st{
		"no usage data from metricsServer (below)": {{Name: "zones"}, hot,
			{Name: "warm", NoData: hot.NoData}},
		"nothing to do: all 4 goals of zones are met; strategy hot: no usage data from metricsServer (below)": {{Name: "zones", Goals: 4,
			Due: true}, {Name: "x", Goals: 1}, hot},
	} {
		p := nothingToDoPlan()
		p.Strategies = all
		if got := firstLine(t, p); got != "Plan: "+want+"; dry run: nothing is evicted." {
			t.Errorf("%+v:\n%s\nwant\n%s", all, got, want)
		}
	}
}

// TestHintsWithoutData checks that the report says that pressure hints have no data.
// Without strategies, the first line must not say that no strategy states a goal.
func TestHintsWithoutData(t *testing.T) {
	type st = plan.StrategyState
	const silent = "no usage data from prometheus"
	wanted := plan.PressureHint{Node: "n1", Rule: "cpu", State: plan.HintToWrite}
	for want, p := range map[string]plan.Plan{
		"nothing to do: no strategies are configured": {},
		"no strategies are configured; 1 node needs a pressure hint (below)": {Pressure: []plan.PressureHint{wanted,
			{Node: "n2", Rule: "cpu", State: plan.HintPresent}}},
		"no strategies are configured; 2 nodes need a pressure hint (below)": {Pressure: []plan.PressureHint{wanted, wanted}},
		"hints: " + silent + " (below)":                                      {HintsNoData: silent, Strategies: []st{{Name: "zones"}}},
		silent + " (below)": {HintsNoData: silent,
			Strategies: []st{{Name: "hot", NoData: silent}}},
		"nothing to do: all 4 goals are met; hints: " + silent + " (below)": {HintsNoData: silent,
			Strategies: []st{{Name: "zones", Goals: 4, Due: true}}},
	} {
		shown := nothingToDoPlan()
		shown.Strategies, shown.Pressure, shown.HintsNoData = p.Strategies, p.Pressure, p.HintsNoData
		if got := firstLine(t, shown); got != "Plan: "+want+"; dry run: nothing is evicted." {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// TestRunWithoutMoves checks the first line of runs without moves. The line
// must name unmet goals, missing data and waiting nodes.
func TestRunWithoutMoves(t *testing.T) {
	unmet := nothingToDoPlan()
	unmet.Goals, unmet.After.Excess = threeZonesPlan().Goals, map[string]float64{"g1": 2}
	blind, waits := nothingToDoPlan(), nothingToDoPlan()
	blind.Strategies = []plan.StrategyState{{Name: "hot", NoData: "no usage data from metricsServer"}}
	waits.Strategies = []plan.StrategyState{{Name: "hot", Goals: 4, Unmet: 1, Due: true, WaitingNodes: 1,
		WaitReason: "above its target in 1 of 3 samples in a row"}}
	for want, p := range map[string]plan.Plan{
		"":                     nothingToDoPlan(),
		"; 1 goal stays unmet": unmet,
		"; strategy hot: no usage data from metricsServer (below)":            blind,
		"; waiting: 1 node above its target in 1 of 3 samples in a row (hot)": waits,
	} {
		for _, mode := range []plan.Mode{plan.DryRun, plan.Live} {
			var b strings.Builder
			if err := report.Run(&b, report.Table, newRun(mode, p)); err != nil ||
				verdictOf(b.String()) != "Run: nothing evicted; the plan has no moves"+want+"." {
				t.Errorf("%s, %v: %s\nwant %s", mode, err, b.String(), want)
			}
		}
	}
}

// TestWaitingNodes checks that the report counts the nodes for which a strategy waits for more samples.
func TestWaitingNodes(t *testing.T) {
	type st = plan.StrategyState
	const one = "above its target in 1 of 3 samples in a row"
	hot := st{Name: "hot", Goals: 4, Unmet: 2, Due: true, WaitingNodes: 2, WaitReason: one}
	for want, all := range map[string][]st{
		"nothing to do yet: 2 nodes, each above its target in 1 of 3 samples in a row (hot)":                                                            {{Name: "zones", Goals: 1, Due: true}, hot},
		"nothing to do yet: 1 node above its target, but a condition of the strategy is not met yet (hot)":                                              {{Name: "hot", Goals: 1, Unmet: 1, Due: true, WaitingNodes: 1}},
		"nothing to do yet: 2 nodes, each above its target in 1 of 3 samples in a row (hot), 1 node above its target in 1 of 3 samples in a row (warm)": {hot, {Name: "warm", Goals: 1, Unmet: 1, Due: true, WaitingNodes: 1, WaitReason: one}},
	} {
		p := nothingToDoPlan()
		p.Strategies = all
		if got := firstLine(t, p); got != "Plan: "+want+"; dry run: nothing is evicted." {
			t.Errorf("%+v:\n%s\nwant\n%s", all, got, want)
		}
	}
	p := threeZonesPlan()
	p.Strategies = append(p.Strategies, hot)
	if got := firstLine(t, p); !strings.Contains(got,
		"; waiting: 2 nodes, each above its target in 1 of 3 samples in a row (hot); dry run: nothing is evicted") {
		t.Errorf("with moves: %s", got)
	}
}
