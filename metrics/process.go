package metrics

import (
	"cmp"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel-project/evenkeel/internal/commit"
)

var (
	defBuild = definition{name: "evenkeel_build_info", kind: gauge, unit: "1", help: "1, with the build as labels.",
		labels: []label{{"version", "version of Evenkeel"}, {"revision", "git commit, or `unknown`"}, {"goversion", "version of Go"}}}
	defConfig = definition{name: "evenkeel_config_info", kind: gauge, unit: "1",
		help: "1, with the hash of the configuration in effect as label.", labels: []label{{"hash", "of the whole configuration, `dryRun` included"}}}
	defLeader = definition{name: "evenkeel_leader", kind: gauge, unit: "0 or 1",
		help: "1 while this process holds the Lease and makes passes."}
	defPaused = definition{name: "evenkeel_paused", kind: gauge, unit: "0 or 1",
		help:   "1 while evictions are paused (`evenkeel pause`). The leader reads the pause every 15 s, also between passes.",
		absent: "without the Lease; after the pause could not be read; in a dry run"}
	defBreaker = definition{name: "evenkeel_breaker_open", kind: gauge, unit: "0 or 1",
		help:   "1 while the breaker is open. Only a pass closes it.",
		absent: "until the state of earlier passes was read; without the Lease; in a dry run"}
	defDeschedulers = definition{name: "evenkeel_other_deschedulers", kind: gauge, unit: "programs",
		help:   "Other programs in the cluster that evict pods to move them. `evenkeel plan` names them.",
		absent: "until the process has looked, at its start and in each pass; without the Lease; in a dry run"}
	defBackoffs = definition{name: "evenkeel_backoff_workloads", kind: gauge, unit: "workloads",
		help:   "Workloads whose pods are not evicted now, because evictions failed before.",
		absent: "until the state of earlier passes was read; without the Lease; in a dry run"}
)

type processMetrics struct {
	config          *gauges
	leader          prometheus.Gauge
	paused, breaker *gauges
	deschedulers    *gauges

	mu           sync.Mutex
	leading      bool
	backoffs     []time.Time // their ends
	knowBackoffs bool
}

func newProcessMetrics(r prometheus.Registerer, version string) *processMetrics {
	defBuild.newGauges(r).replace([]sample{newSample(1, version, cmp.Or(commit.OfProgram().Revision, "unknown"), runtime.Version())})
	p := &processMetrics{config: defConfig.newGauges(r), leader: defLeader.newGauge(r), paused: defPaused.newGauges(r),
		breaker: defBreaker.newGauges(r), deschedulers: defDeschedulers.newGauges(r)}
	defBackoffs.register(r, p.countBackoffs)
	return p
}

// countBackoffs returns how many workloads back off now.
func (p *processMetrics) countBackoffs() (n float64, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, until := range p.backoffs {
		n += number(time.Now().Before(until))
	}
	return n, p.knowBackoffs
}

// ifLeading calls record if this process holds the Lease. A pass that ends after the Lease was lost records nothing.
func (p *processMetrics) ifLeading(record func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leading {
		record()
	}
}

// SetConfigHash sets the configuration hash that is in effect from the next pass on.
func (m *Metrics) SetConfigHash(hash string) { m.process.config.replace([]sample{newSample(1, hash)}) }

// SetLeading records whether this process holds the Lease. Without the Lease, it does not know what the leader knows.
func (m *Metrics) SetLeading(yes bool) {
	p := m.process
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leading = yes
	p.leader.Set(number(yes))
	if !yes {
		m.passes.nextPass.clear()
		m.passes.recordUnjudged(nil)
		m.passes.lastStop.clear()
		p.paused.clear()
		p.breaker.clear()
		p.deschedulers.clear()
		p.backoffs, p.knowBackoffs = nil, false
	}
}

// RecordPause records whether evictions are paused. known is false if the pause could not be read.
func (m *Metrics) RecordPause(paused, known bool) {
	if !known {
		m.process.paused.clear()
		return
	}
	m.process.ifLeading(func() { m.process.paused.set(number(paused)) })
}

// RecordState records whether the breaker is open, and until when workloads back off.
func (m *Metrics) RecordState(breakerOpen bool, backoffs []time.Time) {
	p := m.process
	p.ifLeading(func() {
		p.breaker.set(number(breakerOpen))
		p.backoffs, p.knowBackoffs = backoffs, true
	})
}

// RecordOtherDeschedulers records how many other programs evict pods to move them.
func (m *Metrics) RecordOtherDeschedulers(n int) {
	m.process.ifLeading(func() { m.process.deschedulers.set(float64(n)) })
}
