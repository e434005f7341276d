package metrics

import "github.com/prometheus/client_golang/prometheus"

// HintCounts are the pressure hints after a look at all nodes.
type HintCounts struct {
	// ByRule has each rule of the configuration, also those that hint no node.
	ByRule                               map[string]int
	Unmeasured, Capped, Foreign, Unknown int
	Written, Failed                      int
}

type hintMetrics struct {
	nodes    *prometheus.GaugeVec
	unhinted *prometheus.GaugeVec
	writes   *prometheus.CounterVec
}

func newHintMetrics(r *prometheus.Registry) *hintMetrics {
	p := &hintMetrics{
		nodes:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_hinted_nodes", Help: "Nodes with a pressure hint, by the rule that was furthest beyond its level when it was written; in a dry run those that would have one."}, []string{"rule"}),
		unhinted: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "evenkeel_hint_nodes", Help: "Nodes by what keeps their pressure hint from being as the rules have it: held (not measured, the hint stands until it expires), capped (hot, but others are hotter), foreign (somebody else's label or taint stands there), unknown (no rule knows anything about it)."}, []string{"state"}),
		writes:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "evenkeel_hint_writes_total", Help: "Nodes written for pressure hints, by result (written, failed)."}, []string{"result"}),
	}
	r.MustRegister(p.nodes, p.unhinted, p.writes)
	for _, result := range []string{"written", "failed"} {
		p.writes.WithLabelValues(result)
	}
	return p
}

// RecordHints notes the pressure hints.
func (m *Metrics) RecordHints(c HintCounts) {
	m.hints.nodes.Reset()
	for rule, n := range c.ByRule {
		m.hints.nodes.WithLabelValues(rule).Set(float64(n))
	}
	for state, n := range map[string]int{"unmeasured": c.Unmeasured, "capped": c.Capped, "foreign": c.Foreign, "unknown": c.Unknown} {
		m.hints.unhinted.WithLabelValues(state).Set(float64(n))
	}
	m.hints.writes.WithLabelValues("written").Add(float64(c.Written))
	m.hints.writes.WithLabelValues("failed").Add(float64(c.Failed))
}
