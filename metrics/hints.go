package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/hints/reconciler"
)

type hintMetrics struct {
	nodes    *prometheus.GaugeVec
	unhinted *prometheus.GaugeVec
	writes   *prometheus.CounterVec
	removed  prometheus.Counter
}

func newHintMetrics(r prometheus.Registerer) *hintMetrics {
	p := &hintMetrics{
		nodes: newGauges(r, "evenkeel_hinted_nodes",
			"Nodes with a pressure hint, by the rule recorded in the hint. In a dry run: nodes that would have one.", "rule"),
		unhinted: newGauges(r, "evenkeel_hint_nodes",
			"Nodes whose pressure hint differs from what the rules ask, by cause: unmeasured (no usage data, the hint stays until it "+
				"expires), capped (hot, but hotter nodes used up maxNodes), foreign (another program set the label or taint), unknown (no rule "+
				"has usage data for the node), invalidRecord (the annotation on the node is not the record of a hint).", "state"),
		writes: newCounters(r, "evenkeel_hint_writes_total",
			"Node writes for pressure hints, by result (written, failed).", "result"),
		removed: newCounters(r, "evenkeel_hint_invalid_records_removed_total",
			"Annotations removed from nodes because they were not the record of a pressure hint. A kubelet or another program wrote them, or "+
				"hints.formerLabels lacks a label of an earlier configuration.").WithLabelValues(),
	}
	p.writes.WithLabelValues("written")
	p.writes.WithLabelValues("failed")
	return p
}

// RecordHints sets the hint gauges and adds to the counter of node writes.
func (m *Metrics) RecordHints(c reconciler.Counts) {
	m.hints.nodes.Reset()
	for rule, n := range c.ByRule {
		m.hints.nodes.WithLabelValues(rule).Set(float64(n))
	}
	for state, n := range map[string]int{"unmeasured": c.Unmeasured, "capped": c.Capped, "foreign": c.Foreign, "unknown": c.Unknown,
		"invalidRecord": c.InvalidRecords} {
		m.hints.unhinted.WithLabelValues(state).Set(float64(n))
	}
	m.hints.writes.WithLabelValues("written").Add(float64(c.Written))
	m.hints.removed.Add(float64(c.RemovedRecords))
	m.hints.writes.WithLabelValues("failed").Add(float64(c.Failed))
}
