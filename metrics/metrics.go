// Package metrics exports Prometheus metrics about passes, plans, evictions, hints, reloads and the API server.
//
// The package decides the names and labels. Label values come from bounded sets (reason codes, outcomes, strategy names
// of the configuration), so the number of series is bounded. The package never makes a decision from a metric.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Metrics holds all metrics and the registry that contains them.
type Metrics struct {
	Registry *prometheus.Registry

	strategies strategyNames
	passes     *passMetrics
	plans      *planMetrics
	balance    *balanceMetrics
	outcomes   *outcomeMetrics
	process    *processMetrics
	forbidden  *forbiddenRequests
	bindings   *bindingMetrics
	reloads    *reloadMetrics
	hints      *hintMetrics
	usage      *usageMetrics // nil without a usage source

	notifications *notificationMetrics

	ofProcess []prometheus.Collector // say nothing after the end of the process
}

// New creates and registers the metrics. version becomes a label of evenkeel_build_info, and configHash of
// evenkeel_config_info.
func New(version, configHash string) *Metrics {
	r := prometheus.NewRegistry()
	ofProcess := []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
	r.MustRegister(ofProcess...)
	m := &Metrics{Registry: r, passes: newPassMetrics(r), plans: newPlanMetrics(r), balance: newBalanceMetrics(r),
		outcomes: newOutcomeMetrics(r), process: newProcessMetrics(r, version), forbidden: newForbiddenRequests(r), bindings: newBindingMetrics(r),
		reloads: newReloadMetrics(r), hints: newHintMetrics(r), notifications: newNotificationMetrics(r)}
	m.SetConfigHash(configHash)
	m.ofProcess = append(ofProcess, m.process.leader)
	return m
}

// RecordPass counts a pass and its outcomes. A pass that ended before planning leaves the plan gauges unchanged, except
// that the balance score is unknown if the pass could judge nothing. An approved plan changes none of them: it comes
// from another process, which may have put any code and any count into it.
func (m *Metrics) RecordPass(r plan.RunReport) {
	m.passes.recordPass(r)
	switch {
	case r.Recovery != nil || r.Approval != nil:
	case !r.EndedBeforePlanning():
		m.plans.recordPlan(r.Plan)
		m.plans.recordWaiting(r.Plan.Strategies, r.Waiting)
		m.balance.recordPlan(r.Plan)
	case len(r.Plan.NothingJudged) > 0:
		m.balance.clearScore()
	}
	m.outcomes.record(r, m.strategies.label)
}
