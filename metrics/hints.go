package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/hints/reconciler"
)

const withoutHints = "without [pressure hints](hints.md#pressure-hints)"

var (
	defHinted = definition{name: "evenkeel_hinted_nodes", kind: gauge, unit: "nodes",
		help:   "Nodes with a pressure hint, by the rule recorded in the hint. In a dry run: nodes that would have one.",
		labels: []label{{"rule", "names of the configuration; `other`: all others"}}, absent: withoutHints}
	defMismatched = definition{name: "evenkeel_hint_mismatched_nodes", kind: gauge, unit: "nodes",
		help: "Nodes whose pressure hint differs from what the rules ask. Such a node may also count in evenkeel_hinted_nodes.",
		labels: []label{{"cause", "`unmeasured` (no usage data, the hint stays until it expires), `capped` (hot, but hotter nodes used up " +
			"`maxNodes`), `foreign` (another program set the label or taint), `unknown` (no rule has usage data for the node), " +
			"`invalidRecord` (the annotation on the node is not the record of a hint)"}}, absent: withoutHints}
	defHintWrites = definition{name: "evenkeel_hint_writes_total", kind: counter, unit: "writes",
		help: "Node writes for pressure hints.", labels: []label{{"result", "`written`, `failed`"}}}
	defHintsRemoved = definition{name: "evenkeel_hint_invalid_records_removed_total", kind: counter, unit: "annotations",
		help: "Annotations removed from nodes because they were not the record of a pressure hint. A kubelet or another program " +
			"wrote them, or hints.former lacks a label of an earlier configuration."}
)

type hintMetrics struct {
	hinted, mismatched *gauges
	writes             *prometheus.CounterVec
	removed            prometheus.Counter
}

func newHintMetrics(r prometheus.Registerer) *hintMetrics {
	p := &hintMetrics{hinted: defHinted.newGauges(r), mismatched: defMismatched.newGauges(r), writes: defHintWrites.newCounters(r),
		removed: defHintsRemoved.newCounter(r)}
	p.writes.WithLabelValues("written")
	p.writes.WithLabelValues("failed")
	return p
}

// RecordHints sets the hint gauges and adds to the counter of node writes.
func (m *Metrics) RecordHints(c reconciler.Counts) {
	var hinted []sample
	for rule, n := range c.ByRule {
		hinted = append(hinted, newSample(float64(n), rule))
	}
	m.hints.hinted.replace(hinted)
	m.hints.mismatched.replace([]sample{newSample(float64(c.Unmeasured), "unmeasured"), newSample(float64(c.Capped), "capped"),
		newSample(float64(c.Foreign), "foreign"), newSample(float64(c.Unknown), "unknown"),
		newSample(float64(c.InvalidRecords), "invalidRecord")})
	m.hints.writes.WithLabelValues("written").Add(float64(c.Written))
	m.hints.removed.Add(float64(c.RemovedRecords))
	m.hints.writes.WithLabelValues("failed").Add(float64(c.Failed))
}
