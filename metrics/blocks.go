package metrics

import "github.com/evenkeel-project/evenkeel/plan"

// recordBlocks notes what kept the pass, or one of its strategies, from evicting: also
// what came up in its middle.
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

// RecordBenefits notes the accounts of the strategies. Those of the state are bounded to
// the strategies of the configuration (history.AddBenefit).
func (m *Metrics) RecordBenefits(accounts map[string]plan.Benefit) {
	m.benefit.Reset()
	m.benefitEvictions.Reset()
	for name, b := range accounts {
		m.benefit.WithLabelValues(name, "predicted").Set(b.Predicted)
		m.benefit.WithLabelValues(name, "realised").Set(b.Realised)
		m.benefitEvictions.WithLabelValues(name).Set(b.Evictions)
	}
}
