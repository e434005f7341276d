package controller

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestStoredCountsDoNotHideWrongPredictions: a process that starts with a full stored window counts its own wrong
// predictions at once, also if the window has become shorter.
func TestStoredCountsDoNotHideWrongPredictions(t *testing.T) {
	for _, window := range []int{50, 20} {
		s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, window },
			OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}
		stored := map[string]plan.SchedulerBindings{"s": {Seen: 90, Predicted: 50, Hits: 49, Model: "m"}}
		s.Restore(stored)
		for range 3 {
			s.countBinding("s", "m", window, false, true)
		}
		s.Restore(stored) // of the next pass
		if got, want := s.Counts()["s"], (plan.SchedulerBindings{Seen: 93, Predicted: window, Hits: window - 4, Model: "m"}); got != want {
			t.Errorf("window %d: got %+v, want %+v", window, got, want)
		}
		s.countBinding("s", "other", window, true, true)
		if got := s.Counts()["s"]; got.Predicted != 1 {
			t.Errorf("window %d: with another model, %d predictions count", window, got.Predicted)
		}
	}
	s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, 50 }}
	s.Restore(map[string]plan.SchedulerBindings{"s": {Seen: 1 << 62, Predicted: 1 << 62, Hits: 0, Model: "m"}})
	if got := s.Counts()["s"]; got.Hits != 0 || got.Predicted != 50 {
		t.Errorf("of forged counts: %+v", got)
	}
}

// TestRestoredCountsStayValid: a process that has checked bindings before it reads the counts of an
// earlier process keeps counts that a later process can read. Both may have checked the same
// bindings.
func TestRestoredCountsStayValid(t *testing.T) {
	s := &SchedulerTrust{Profiles: func() (map[string]scheduler.Profile, int) { return nil, 50 },
		OnCount: func(string, plan.SchedulerBindings, bool, bool) {}}
	for range 3 {
		s.countBinding("s", "m", 50, true, true)
	}
	s.Restore(map[string]plan.SchedulerBindings{"s": {Seen: 5, Predicted: 5, Hits: 5, Model: "m"}})
	if got := s.Counts()["s"]; got.Predicted != 8 || got.Predicted > got.Seen {
		t.Errorf("got %+v, want 8 predictions of at least as many bindings", got)
	}
}
