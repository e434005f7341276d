package metrics

import "github.com/evenkeel-project/evenkeel/plan"

// recordBlocks records what blocked the evictions of the pass, or stopped it.
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
