package planner_test

import (
	"math"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestBalanceOfTheExample checks the score of examples/three-zones.yaml: the plan raises it, and the parts explain it.
// Modes and schedules do not change the score of the present state.
func TestBalanceOfTheExample(t *testing.T) {
	score := func(t *testing.T, conf string, due []string) (before, after float64) {
		t.Helper()
		p := planExample(t, head+conf, due, nil)
		b, a, known := p.Balance()
		if !known {
			t.Fatal("the balance is unknown")
		}
		for _, of := range []*plan.Balance{b, a} {
			lost := 0.0
			for _, part := range of.Parts {
				lost += of.LostPoints(part)
			}
			if s := of.Score(); math.IsNaN(s) || s < 0 || s > 100 || math.Abs(s+lost-100) > 1e-9 {
				t.Errorf("score %g, lost points %g", s, lost)
			}
		}
		return b.Score(), a.Score()
	}
	automatic := "strategies: {zones: {type: ZoneSpread, schedule: '@hourly', args: {maxSkew: 1}}}\n"
	shown := "strategies: {zones: {type: ZoneSpread, schedule: '@hourly', mode: dryRun, args: {maxSkew: 1}}}\n"
	before, after := score(t, automatic, nil)
	if before >= after {
		t.Errorf("the score falls from %g to %g", before, after)
	}
	if b, a := score(t, automatic, []string{}); b != before || a != before {
		t.Errorf("with a strategy that is not due, the score is %g and stays %g; want %g", b, a, before)
	}
	if b, a := score(t, shown, nil); b != before || a != before {
		t.Errorf("with a strategy in mode dryRun, the score is %g and stays %g; want %g", b, a, before)
	}
}

// TestBalanceWithoutUsageIsUnknown checks that a strategy without usage data has no score, and that consolidation has
// no part for utilization.
func TestBalanceWithoutUsageIsUnknown(t *testing.T) {
	p := planExample(t, head+"load: {source: metricsServer}\nstrategies: {hot: {type: NodeLoad, schedule: '@hourly', args: {basis: load, target: {cpu: 0.8}}}}\n", nil, nil)
	if _, _, known := p.Balance(); known {
		t.Error("the balance is known although usage data is missing")
	}
	p = planExample(t, head+"strategies: {pack: {type: NodeConsolidation, schedule: '@hourly', args: {below: {cpu: 0.3}}}}\n", nil, nil)
	b, _, known := p.Balance()
	if !known {
		t.Fatal("the balance is unknown")
	}
	for _, part := range b.Parts {
		if part.Name != plan.BalanceZones {
			t.Errorf("part %s applies", part.Name)
		}
	}
}

// TestNodesAfterThePlan: a node that only receives pods has their requests after the plan. The nodes of the example are
// equal, so the shares that pods request add up to the same.
func TestNodesAfterThePlan(t *testing.T) {
	p := planExample(t, head+"strategies: {zones: {type: ZoneSpread, schedule: '@hourly', args: {maxSkew: 1}}}\n", nil, nil)
	sum, changed := 0.0, 0
	for i := range p.Before.Nodes {
		change := p.After.Nodes[i].Requested["cpu"] - p.Before.Nodes[i].Requested["cpu"]
		if sum += change; change != 0 {
			changed++
		}
	}
	if math.Abs(sum) > 1e-9 || changed != 3 {
		t.Errorf("%d nodes changed, by %g together; want 3, by 0", changed, sum)
	}
}
