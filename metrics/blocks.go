package metrics

import "github.com/evenkeel-project/evenkeel/plan"

// recordBlocks sets the gauges for each reason that blocked the pass or a strategy. It
// includes a reason that stopped the pass while it ran.
func (m *Metrics) recordBlocks(r plan.RunReport) {
	m.paused.Set(0)
	m.breaker.Set(0)
	m.ineffective.Reset()
	all := r.Plan.Blocks
	if r.Stopped != nil {
		all = append([]plan.EvictionBlock{{Reason: *r.Stopped}}, all...)
	}
	for _, h := range all {
		switch h.Reason.Code {
		case plan.Paused:
			m.paused.Set(1)
		case plan.BreakerOpen:
			m.breaker.Set(1)
		case plan.StrategyIneffective:
			m.ineffective.WithLabelValues(h.Strategy).Set(1)
		}
	}
}

// RecordBenefits sets the benefit gauges of each strategy. The persisted state contains only
// strategies of the configuration (history.AddBenefit), so the number of series is bounded.
func (m *Metrics) RecordBenefits(accounts map[string]plan.Benefit) {
	m.benefit.Reset()
	m.benefitEvictions.Reset()
	for name, b := range accounts {
		m.benefit.WithLabelValues(name, "predicted").Set(b.Predicted)
		m.benefit.WithLabelValues(name, "realised").Set(b.Realised)
		m.benefitEvictions.WithLabelValues(name).Set(b.Evictions)
	}
}
