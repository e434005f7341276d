package plan_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

func TestScore(t *testing.T) {
	goals, zones, utilization := plan.PartBalance{Name: plan.BalanceGoals}, plan.PartBalance{Name: plan.BalanceZones},
		plan.PartBalance{Name: plan.BalanceUtilization}
	uneven := func(p plan.PartBalance, x float64) plan.PartBalance { p.Uneven = x; return p }
	for name, c := range map[string]struct {
		parts []plan.PartBalance
		want  float64
	}{
		"even":                    {[]plan.PartBalance{goals, zones, utilization}, 100},
		"the worst":               {[]plan.PartBalance{uneven(goals, 1), uneven(zones, 1), uneven(utilization, 1)}, 0},
		"half of the goals":       {[]plan.PartBalance{uneven(goals, 0.5), zones, utilization}, 75},
		"zones":                   {[]plan.PartBalance{goals, uneven(zones, 0.2), utilization}, 95},
		"one part has all points": {[]plan.PartBalance{uneven(utilization, 0.25)}, 75},
		"two parts share them":    {[]plan.PartBalance{uneven(goals, 0.3), zones}, 80},
	} {
		if got := (&plan.Balance{Parts: c.parts}).Score(); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

func TestBalanceIsKnownOnlyWithData(t *testing.T) {
	b := &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceZones}}}
	p := plan.Plan{Before: plan.State{Balance: b}, After: plan.State{Balance: b}, Strategies: []plan.StrategyState{{Name: "hot"}}}
	if _, _, known := p.Balance(); !known {
		t.Error("unknown with data")
	}
	for name, change := range map[string]func(*plan.Plan){
		"no part applies":      func(p *plan.Plan) { p.Before.Balance = &plan.Balance{} },
		"no usage data":        func(p *plan.Plan) { p.Strategies = []plan.StrategyState{{Name: "hot", NoData: "none"}} },
		"nothing judged":       func(p *plan.Plan) { p.NothingJudged = []plan.Reason{{Code: plan.NoStrategy}} },
		"from another process": func(p *plan.Plan) { p.Before.Balance, p.After.Balance = nil, nil },
	} {
		changed := p
		change(&changed)
		if _, _, known := changed.Balance(); known {
			t.Errorf("%s: known", name)
		}
	}
}
