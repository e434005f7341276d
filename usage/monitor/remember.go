package monitor

import (
	"context"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// remembered is what the source remembers from before the sample that was just
// taken, and since the last that was taken in. What it says of the last half interval
// is what the sample says, and must not count twice.
func (m *Monitor) remembered(ctx context.Context, nodes []usage.Node, until time.Time) []usage.Sample {
	h, remembers := m.source.(usage.Historian)
	if !remembers {
		m.anew("a " + m.opts.Source + " remembers nothing")
		return nil
	}
	since := m.since(until)
	asking, cancel := m.deadline(ctx)
	defer cancel()
	samples, err := h.History(asking, nodes, since, m.opts.Interval)
	m.lacks(err, until)
	switch {
	case err != nil && len(samples) > 0:
		m.log.Warn("what the source of usage remembers was read in part: the rest is counted anew", "error", err)
	case err != nil:
		m.anew("what " + m.opts.Source + " remembers could not be read: " + err.Error())
		m.log.Warn("samples are counted anew: the source of usage does not say what it remembers", "error", err)
		return nil
	}
	m.anew("")
	samples = slices.DeleteFunc(samples, func(s usage.Sample) bool {
		return !s.Taken.After(since) || s.Taken.After(until.Add(-m.opts.Interval/2))
	})
	for i := range samples {
		samples[i].Remembered = true
	}
	m.log.Info("took over what the source of usage remembers", "samples", len(samples), "since", since)
	return samples
}

// since is where what is remembered begins to matter.
func (m *Monitor) since(until time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := until.Add(-m.reach())
	if last := m.windows.Taken(); last.After(since) {
		return last
	}
	return since
}

// lacks notes what could not be read of what the source remembers.
func (m *Monitor) lacks(err error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.partly = ""; err != nil {
		m.partly, m.partlyAt = err.Error(), now
	}
}

func (m *Monitor) anew(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history = why
}
