package metrics

import (
	"fmt"
	"strings"
)

// section is a part of the reference.
type section struct {
	title, text string
	metrics     []*definition
}

// catalog lists every metric.
var catalog = []section{
	{"The program", "", []*definition{&defBuild, &defConfig, &defReloads, &defReloaded, &defLastReload, &defNotBefore, &defNotAfter}},
	{"Leader, pause and breaker", "", []*definition{&defLeader, &defPaused, &defBreaker, &defBackoffs, &defDeschedulers, &defLeaderStatus, &defSlowPath}},
	{"Passes", "", []*definition{&defPasses, &defPassSeconds, &defLastPass, &defNextPass, &defSkipped, &defUnjudged, &defLastStop, &defViewAge}},
	{"The last plan", "These metrics describe the most recent plan of a pass. An approval changes only `evenkeel_waiting_moves`.",
		[]*definition{&defPlanned, &defMinEvictions, &defGoals, &defUnmet, &defPredictedUnmet, &defUnderutilized,
			&defPredictedUnderutilized, &defRejected, &defNotTried, &defLimitUsed, &defWaiting, &defAnnounced}},
	{"Balance and zone failures", "The page [Reports](report.md#balance-score) defines the balance score.", []*definition{&defScore, &defPredictedScore, &defLostPoints, &defZoneFailure, &defSingleZone}},
	{"Evictions and replacements", "", []*definition{&defEvictions, &defMoves, &defLandings, &defReady}},
	{"Schedulers", "", []*definition{&defBindings, &defHitRatio}},
	{"Usage", "", []*definition{&defSamples, &defSampleSeconds, &defLastMeasurement, &defCoverage, &defMinCoverage, &defMaxAge, &defProblems}},
	{"Pressure hints", "", []*definition{&defHinted, &defMismatched, &defHintWrites, &defHintsRemoved}},
	{"Notifications", "", []*definition{&defNotifications}},
	{"Requests to the API server", "",
		[]*definition{&defRequests, &defForbidden, &defRequestSeconds, &defRetries}},
}

const referenceHead = `# Metrics

<!-- Generated from package metrics by "make golden". Do not edit. -->

Evenkeel serves its metrics, and those of the Go runtime, in Prometheus text format at ` + "`/metrics`" + ` of ` + "`--bind-address`" + `.
If the value of a metric is unknown, the metric is absent, not 0. Counters start at 0 when a process starts. To get totals, add up the
metrics of all instances, for example with ` + "`sum(increase(evenkeel_evictions_total[1d]))`" + `.

## Jobs

A process that makes a single pass (` + "`run --once`" + `, or a CronJob of the chart) ends before Prometheus can scrape it. With
` + "`--push-url http://HOST:PORT`" + `, such a process sends its metrics to a [Pushgateway](https://github.com/prometheus/pushgateway), as job
` + "`evenkeel`" + `, with the labels ` + "`release`" + ` (the namespace of its Lease) and ` + "`strategies`" + `. Each push overwrites earlier values
with the same labels, so do not use ` + "`increase()`" + ` on these metrics. The chart's dashboard and most [alerts](../runbooks/README.md) require a Deployment.
To monitor jobs, use:

| expression | true if |
|---|---|
| ` + "`time() - max by (release, strategies) (push_time_seconds{job=\"evenkeel\"}) > 7200`" + ` | no job has pushed in time (7200 is the seconds between two passes plus an hour) |
| ` + "`sum by (release, strategies) (evenkeel_passes_total{job=\"evenkeel\", stopped=\"none\"}) == 0`" + ` | the last pass did not end normally |

Credentials in the push URL are sent as basic authentication and never logged, but they are visible in the process arguments. A failed push
does not change the exit code.
`

// reference returns docs/reference/metrics.md.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, s := range catalog {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.text != "" {
			b.WriteString(s.text + "\n\n")
		}
		b.WriteString("| metric | type, unit | meaning | absent |\n|---|---|---|---|\n")
		for _, d := range s.metrics {
			fmt.Fprintf(&b, "| %s | %s, %s | %s | %s |\n", d.title(), d.kind, d.unit, d.describe(), d.absent)
		}
	}
	return b.String()
}

// title returns the name with the labels.
func (d *definition) title() string {
	if len(d.labels) == 0 {
		return "`" + d.name + "`"
	}
	return "`" + d.name + "{" + strings.Join(d.labelNames(), ",") + "}`"
}

// describe returns the meaning of the metric and the values of its labels.
func (d *definition) describe() string {
	text := d.help
	for _, l := range d.labels {
		text += fmt.Sprintf("<br>`%s`: %s", l.name, l.values)
	}
	return text
}
