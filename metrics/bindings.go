package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/plan"
)

var schedulerLabel = label{"scheduler", "`schedulerName` of pods, at most 16 names"}

var (
	defBindings = definition{name: "evenkeel_scheduler_bindings_total", kind: counter, unit: "bindings",
		help: "Bindings made by schedulers, by whether the model predicted the node.",
		labels: []label{schedulerLabel, {"result", "`hit` (predicted this node), `miss` (predicted another node), " +
			"`unclear` (predicted none)"}}, absent: "a scheduler or result without a binding since the start"}
	defHitRatio = definition{name: "evenkeel_scheduler_hit_ratio", kind: gauge, unit: "share of 1",
		help:   "Share of predicted bindings that were correct, over the latest predictions (up to 500).",
		labels: []label{schedulerLabel}, absent: "a scheduler with fewer predicted bindings than 50"}
)

type bindingMetrics struct {
	bindings *prometheus.CounterVec
	hitRatio *prometheus.GaugeVec
}

func newBindingMetrics(r prometheus.Registerer) *bindingMetrics {
	return &bindingMetrics{bindings: defBindings.newCounters(r), hitRatio: defHitRatio.newGauges(r).vec}
}

// RecordBinding counts a binding made by a scheduler. The counts b include this binding. predicted
// reports whether the model predicted a node, and hit reports whether the prediction was correct. With fewer than
// minBindings predictions, the scheduler has no hit ratio.
func (m *Metrics) RecordBinding(scheduler string, b plan.SchedulerBindings, minBindings int, hit, predicted bool) {
	result := "unclear"
	switch {
	case hit:
		result = "hit"
	case predicted:
		result = "miss"
	}
	m.bindings.bindings.WithLabelValues(scheduler, result).Inc()
	if b.Predicted >= max(minBindings, 1) {
		m.bindings.hitRatio.WithLabelValues(scheduler).Set(b.HitRate())
	} else {
		m.bindings.hitRatio.DeleteLabelValues(scheduler) // with another model, the predictions count from zero
	}
}
