package metrics

import "github.com/prometheus/client_golang/prometheus"

// HintCounts are the numbers of one reconciliation of the pressure hints.
type HintCounts struct {
	// ByRule is the number of hinted nodes by rule. ByRule has every rule of the configuration,
	// including rules without a hinted node.
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
		nodes: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "evenkeel_hinted_nodes",
				Help: "Nodes with a pressure hint, by the rule recorded in the hint. In a dry run: nodes that would have one.",
			},
			[]string{"rule"},
		),
		unhinted: prometheus.NewGaugeVec(
			prometheus.GaugeOpts{
				Name: "evenkeel_hint_nodes",
				Help: "Nodes whose pressure hint differs from what the rules ask, by cause: unmeasured (no usage data, the hint stays until it " +
					"expires), capped (hot, but hotter nodes used up maxNodes), foreign (another program set the label or taint), unknown (no rule " +
					"has usage data for the node).",
			},
			[]string{"state"},
		),
		writes: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "evenkeel_hint_writes_total", Help: "Node writes for pressure hints, by result (written, failed)."},
			[]string{"result"},
		),
	}
	r.MustRegister(p.nodes, p.unhinted, p.writes)
	for _, result := range []string{"written", "failed"} {
		p.writes.WithLabelValues(result)
	}
	return p
}

// RecordHints sets the hint gauges and adds to the counter of node writes.
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
