package monitor

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// Usage returns the known usage of nodes and pods, and the problems of the source. The result is read-only and
// never nil. While the source does not answer, known usage expires after MaxAge, and the problems say why.
func (m *Monitor) Usage() *cluster.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	if m.last == nil || !m.usageStillValid(now) {
		m.last, m.lastAt = m.windows.Usage(now), now
	}
	return m.withSourceProblems(m.last, now)
}

// usageStillValid reports whether Usage can return its last result again. No node's measurement may
// be too old. Measurements of pods may be too old by up to resultLifetime.
func (m *Monitor) usageStillValid(now time.Time) bool {
	if age := now.Sub(m.lastAt); age < 0 || age > resultLifetime {
		return false
	}
	return !slices.ContainsFunc(m.last.Nodes, func(n cluster.NodeUsage) bool { return now.Sub(n.At) > m.opts.MaxAge })
}

// NodeUsage returns Usage without pods, for hints. NodeUsage is cheap to compute.
func (m *Monitor) NodeUsage() *cluster.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	return m.withSourceProblems(m.windows.NodeUsage(now), now)
}

// Loads returns the loads of the nodes, in percent of capacity, over the last 5, 10 or 15 minutes.
// Loads uses the shortest of these periods that covers all kept samples, or 15 minutes.
//
// Callers may call Loads at any rate. Between samples, the loads are computed again only if a node
// may have become unknown. The loads are read-only.
func (m *Monitor) Loads() (loads []window.NodeLoads, over time.Duration, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now = m.clock.Now()
	if m.loads == nil || now.Before(m.loadsAt) || !now.Before(m.loadsUntil) {
		m.buildLoads(now)
	}
	return m.loads, m.loadsOver, now
}

// buildLoads computes the loads. The loads stay valid until one of their measurements is too old or the next
// sample arrives.
func (m *Monitor) buildLoads(now time.Time) {
	span, over := m.windows.SampleSpan(now), time.Duration(0)
	for _, over = range [...]time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute} {
		if over >= span {
			break
		}
	}
	m.loads, m.loadsOver, m.loadsAt, m.loadsUntil = m.windows.Loads(now, over), over, now, now.Add(resultLifetime)
	for i := range m.loads {
		if old := m.loads[i].At.Add(m.opts.MaxAge); old.Before(m.loadsUntil) {
			m.loadsUntil = old
		}
	}
}

// SourceName returns the name of the source that measures usage, such as prometheus.
func (m *Monitor) SourceName() string { return m.opts.Source }

// withSourceProblems adds the problems of the source, which the windows do not know.
func (m *Monitor) withSourceProblems(u *cluster.Usage, now time.Time) *cluster.Usage {
	out := *u
	out.Problems = slices.Concat(m.sourceProblems(now), u.Problems)
	return &out
}

func (m *Monitor) sourceProblems(now time.Time) []string {
	var out []string
	switch {
	case m.lastError != nil:
		out = append(out, fmt.Sprintf("no answer since %s (asked %s): %v", m.failedSince.UTC().Format(time.RFC3339), plural.Count(m.failures, "time"),
			m.lastError))
	case m.samples == 0:
		out = append(out, "the source has not answered yet")
	}
	if m.historyGap != "" && m.noHistoryReason == "" && now.Before(m.historyGapAt.Add(m.historyLength())) {
		out = append(out, fmt.Sprintf("the history of %s could be read only in part; samples of the rest are counted since %s: %s",
			m.opts.Source, m.historyGapAt.UTC().Format(time.RFC3339), m.historyGap))
	}
	if most := m.maxRequiredSamples(); most > 1 && m.noHistoryReason != "" && m.samples < most {
		out = append(out, fmt.Sprintf("samples are counted since %s, because %s: %d of up to %d required in a row",
			m.firstAttempt.UTC().Format(time.RFC3339), m.noHistoryReason, m.samples, most))
	}
	return out
}
