package monitor

import (
	"context"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// loadHistory reads the samples between the last added sample and the current one from the source. loadHistory
// omits the last half interval, which the current sample covers, so no measurement counts twice.
func (m *Monitor) loadHistory(ctx context.Context, nodes []usage.Node, until time.Time) []usage.Sample {
	h, remembers := m.source.(usage.HistorySource)
	if !remembers {
		m.setNoHistoryReason(m.opts.Source + " has no history")
		return nil
	}
	since := m.historyStart(until)
	asking, cancel := m.withTimeout(ctx)
	defer cancel()
	samples, err := h.History(asking, nodes, since, m.opts.Interval)
	m.setHistoryGap(err, until)
	switch {
	case err != nil && len(samples) > 0:
		m.log.Warn("the history of the usage source could be read only in part; counting restarts for the rest", "error", err)
	case err != nil:
		m.setNoHistoryReason("the history of " + m.opts.Source + " could not be read: " + err.Error())
		m.log.Warn("the history of the usage source could not be read; counting of samples restarts", "error", err)
		return nil
	}
	m.setNoHistoryReason("")
	samples = slices.DeleteFunc(samples, func(s usage.Sample) bool {
		return !s.Taken.After(since) || s.Taken.After(until.Add(-m.opts.Interval/2))
	})
	for i := range samples {
		samples[i].FromHistory = true
	}
	m.log.Info("read the history of the usage source", "samples", len(samples), "since", since)
	return samples
}

// historyStart returns the time from which history is needed.
func (m *Monitor) historyStart(until time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := until.Add(-m.historyLength())
	if last := m.windows.LastSampleTime(); last.After(since) {
		return last
	}
	return since
}

// setHistoryGap records which part of the history could not be read.
func (m *Monitor) setHistoryGap(err error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.historyGap = ""; err != nil {
		m.historyGap, m.historyGapAt = err.Error(), now
	}
}

func (m *Monitor) setNoHistoryReason(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noHistoryReason = why
}
