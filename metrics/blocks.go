package metrics

import "github.com/evenkeel-project/evenkeel/plan"

// recordBlocks sets the gauges for each reason that blocked the pass. recordBlocks includes a
// reason that stopped the pass while it ran.
func (m *Metrics) recordBlocks(r plan.RunReport) {
	m.paused.Set(0)
	m.breaker.Set(0)
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
		}
	}
}
