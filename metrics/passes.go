package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/plan"
)

const (
	// notStopped is the value of the label stopped for a pass that ran to its end.
	notStopped = "none"
	// otherStrategy stands for all strategies that are not configured, such as those of an approved plan of an earlier
	// configuration.
	otherStrategy = "other"
)

var strategyLabel = label{"strategy", "names of the configuration"}

var (
	defPasses = definition{name: "evenkeel_passes_total", kind: counter, unit: "passes",
		help:   "Passes by mode and by the reason that stopped them.",
		labels: []label{{"mode", "`live`, `dryRun`"}, {"stopped", "`none`, or a [reason code](reasons.md)"}},
		absent: "in mode dryRun, a reason that has stopped no pass since the start"}
	defPassSeconds = definition{name: "evenkeel_pass_duration_seconds", kind: histogram, unit: "seconds", buckets: passBuckets,
		help: "Duration of a pass, including the wait for replacements."}
	defLastPass = definition{name: "evenkeel_last_pass_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time at which the last pass that made a plan finished.", absent: "before the first such pass"}
	defNextPass = definition{name: "evenkeel_next_pass_timestamp_seconds", kind: gauge, unit: "Unix time",
		help: "Time at which the strategy runs next, if nothing delays it.", labels: []label{strategyLabel},
		absent: "without the Lease; a strategy that only an event starts, until the event"}
	defSkipped = definition{name: "evenkeel_skipped_firings_total", kind: counter, unit: "firings",
		help: "Firings of a schedule that were skipped because a pass was running.", labels: []label{strategyLabel}}
	defUnjudged = definition{name: "evenkeel_nothing_judged", kind: gauge, unit: "0 or 1",
		help:   "1 for each cause why the last pass could judge nothing, 0 for all other causes.",
		labels: []label{{"reason", "[codes](report.md#passes-that-could-judge-nothing) of such passes"}}}
	defLastStop = definition{name: "evenkeel_last_pass_stopped", kind: gauge, unit: "0 or 1",
		help:   "1 for the reason that stopped the last pass, 0 for all other reasons; always 0 in mode dryRun. Executions of approved steps do not count.",
		labels: []label{{"reason", "[codes](reasons.md#outcomes-of-moves-and-passes) that stop passes"}}, absent: "before the first pass; without the Lease"}
	defViewAge = definition{name: "evenkeel_cluster_view_age_seconds", kind: gauge, unit: "seconds",
		help:   "Age of the oldest part of the view of the cluster. A pass plans nothing beyond 2 minutes.",
		absent: "before the first complete list of every kind"}
)

type passMetrics struct {
	passes      *prometheus.CounterVec
	passSeconds prometheus.Histogram
	lastPass    *gauges
	nextPass    *gauges
	skipped     *prometheus.CounterVec
	unjudged    *gauges
	lastStop    *gauges
}

func newPassMetrics(r prometheus.Registerer) *passMetrics {
	p := &passMetrics{passes: defPasses.newCounters(r), passSeconds: defPassSeconds.newHistogram(r), lastPass: defLastPass.newGauges(r),
		nextPass: defNextPass.newGauges(r), skipped: defSkipped.newCounters(r), unjudged: defUnjudged.newGauges(r),
		lastStop: defLastStop.newGauges(r)}
	for _, mode := range []plan.Mode{plan.Live, plan.DryRun} {
		p.passes.WithLabelValues(string(mode), notStopped)
	}
	// Without them, an alert would miss the first stop: an increase needs a value before it.
	for _, code := range plan.StopCodes() {
		p.passes.WithLabelValues(string(plan.Live), string(code))
	}
	p.recordUnjudged(nil)
	return p
}

func (p *passMetrics) recordPass(r plan.RunReport) {
	stopped := notStopped
	if r.Stopped != nil {
		stopped = string(r.Stopped.Code)
	}
	p.passes.WithLabelValues(string(r.Mode), stopped).Inc()
	if r.Recovery != nil { // it ran in an earlier process
		return
	}
	p.passSeconds.Observe(r.Finished.Sub(r.Started).Seconds())
	if r.Approval == nil {
		p.recordStop(liveStop(r))
	}
	if r.Approval == nil && (!r.EndedBeforePlanning() || len(r.Plan.NothingJudged) > 0) {
		p.recordUnjudged(r.Plan.NothingJudged)
	}
	if !r.EndedBeforePlanning() {
		p.lastPass.set(seconds(r.Finished))
	}
}

// liveStop returns the reason that stopped a pass in mode live, or "".
func liveStop(r plan.RunReport) plan.Code {
	if r.Mode != plan.Live || r.Stopped == nil {
		return ""
	}
	return r.Stopped.Code
}

// recordStop sets the gauge of each reason that can stop a pass.
func (p *passMetrics) recordStop(code plan.Code) {
	var out []sample
	for _, c := range plan.StopCodes() {
		out = append(out, newSample(number(c == code), string(c)))
	}
	p.lastStop.replace(out)
}

// recordUnjudged sets the gauge of each possible cause why a pass could judge nothing.
func (p *passMetrics) recordUnjudged(causes []plan.Reason) {
	var out []sample
	for _, code := range plan.NothingJudgedCodes() {
		is := slices.ContainsFunc(causes, func(r plan.Reason) bool { return r.Code == code })
		out = append(out, newSample(number(is), string(code)))
	}
	p.unjudged.replace(out)
}

// RecordSkipped counts strategies that were due while a pass was running.
func (m *Metrics) RecordSkipped(strategies []string) {
	for _, s := range strategies {
		m.passes.skipped.WithLabelValues(m.strategies.label(s)).Inc()
	}
}

// RecordNextPasses sets the time of the next pass of each strategy. Strategies that are not in next have none.
func (m *Metrics) RecordNextPasses(next map[string]time.Time) {
	var out []sample
	for name, at := range next {
		out = append(out, newSample(seconds(at), name))
	}
	m.process.ifLeading(func() { m.passes.nextPass.replace(out) })
}

// WatchViewAge registers the age of the view of the cluster. age reports false while the view is not complete.
func (m *Metrics) WatchViewAge(age func() (time.Duration, bool)) {
	defViewAge.register(m.Registry, func() (float64, bool) {
		age, known := age()
		return age.Seconds(), known
	})
}

// seconds returns a Unix time with a precision of a millisecond.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
