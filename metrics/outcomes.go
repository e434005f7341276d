package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/plan"
)

// outcomeKinds lists every plan.OutcomeKind.
var outcomeKinds = []plan.OutcomeKind{plan.Evicted, plan.WouldEvict, plan.Blocked, plan.AlreadyGone, plan.UnknownOutcome,
	plan.InProgress, plan.Dropped}

var otherStrategyLabel = label{"strategy", "names of the configuration; `other`: all others"}

var (
	defEvictions = definition{name: "evenkeel_evictions_total", kind: counter, unit: "pods",
		help: "Pods that were evicted, or removed because they had ended.", labels: []label{otherStrategyLabel}}
	defMoves = definition{name: "evenkeel_moves_total", kind: counter, unit: "moves",
		help: "Planned moves by their outcome. Only outcome=evicted has removed a pod, and outcome=unknown may have.",
		labels: []label{{"outcome", "`evicted`, `wouldEvict` (dry run), `blocked` (refused by the API server or another program), `gone`, " +
			"`unknown` (no answer), `inProgress` (another program moves the pod), `dropped` (not tried)"}, otherStrategyLabel}}
	defLandings = definition{name: "evenkeel_landings_total", kind: counter, unit: "replacements",
		help:   "Replacements that were scheduled, by whether they landed on an acceptable node.",
		labels: []label{{"as_predicted", "`true`, `false`"}}}
	defReady = definition{name: "evenkeel_replacement_ready_seconds", kind: histogram, unit: "seconds",
		help:    "Time from the eviction until the replacement was Ready. A replacement that was not Ready in time does not count.",
		buckets: prometheus.ExponentialBuckets(1, 2, 11)}
)

type outcomeMetrics struct {
	evictions, moves, landings *prometheus.CounterVec
	ready                      prometheus.Histogram
}

func newOutcomeMetrics(r prometheus.Registerer) *outcomeMetrics {
	o := &outcomeMetrics{evictions: defEvictions.newCounters(r), moves: defMoves.newCounters(r), landings: defLandings.newCounters(r),
		ready: defReady.newHistogram(r)}
	for _, yes := range []bool{true, false} {
		o.landings.WithLabelValues(strconv.FormatBool(yes))
	}
	return o
}

// addStrategy makes the counters of a strategy 0, so that the first increase is visible.
func (o *outcomeMetrics) addStrategy(name string) {
	o.evictions.WithLabelValues(name)
	for _, kind := range outcomeKinds {
		o.moves.WithLabelValues(string(kind), name)
	}
}

func (o *outcomeMetrics) removeStrategy(name string) {
	o.evictions.DeleteLabelValues(name)
	o.moves.DeletePartialMatch(prometheus.Labels{"strategy": name})
}

func (o *outcomeMetrics) record(r plan.RunReport, strategyLabel func(string) string) {
	strategy := map[int]string{}
	for _, mv := range r.Moves() {
		strategy[mv.Step] = mv.Strategy
	}
	for _, x := range r.Outcomes {
		name := strategyLabel(strategy[x.Step])
		o.moves.WithLabelValues(string(x.Outcome), name).Inc()
		if x.Outcome == plan.Evicted {
			o.evictions.WithLabelValues(name).Inc()
		}
		if x.Landed != "" {
			o.landings.WithLabelValues(strconv.FormatBool(x.LandedAsPredicted)).Inc()
		}
		if after, err := time.ParseDuration(x.ReadyAfter); err == nil {
			o.ready.Observe(after.Seconds())
		}
	}
}
