package metrics

import (
	"slices"
	"sync"
)

// strategyNames are the names of the configured strategies. Only they, and otherStrategy, become values of labels of
// counters.
type strategyNames struct {
	mu    sync.Mutex
	names []string
}

// label returns the value of a label for a strategy.
func (s *strategyNames) label(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.names, name) {
		return name
	}
	return otherStrategy
}

// SetStrategies makes these strategies the configured ones. The counters of the others are removed.
func (m *Metrics) SetStrategies(names []string) {
	s := &m.strategies
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names {
		if !slices.Contains(names, name) {
			m.outcomes.removeStrategy(name)
			m.passes.skipped.DeleteLabelValues(name)
		}
	}
	s.names = slices.Clone(names)
	for _, name := range names {
		m.outcomes.addStrategy(name)
		m.passes.skipped.WithLabelValues(name)
	}
}
