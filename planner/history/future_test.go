package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestClampFuture: the clock was set back by a day after the records were made. They hold as long as they would have
// from now on, and records within the skew of clocks stay as they are.
func TestClampFuture(t *testing.T) {
	day := 24 * time.Hour
	w := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "d"}
	at := func(shift time.Duration) plan.PlannerState {
		from := noon.Add(shift)
		return plan.PlannerState{
			Evictions:    []plan.EvictionCount{{Workload: w, Minute: from, Count: 2, First: from, Strategy: "zones"}},
			Backoffs:     []plan.Backoff{{Workload: w, Since: from, Until: from.Add(10 * time.Minute), Failures: 1}},
			Background:   []plan.BackgroundEviction{{Pod: plan.PodRef{UID: "u"}, Workload: w, Since: from, Until: from.Add(time.Hour)}},
			Runs:         []plan.OpenRun{{RunID: "r", Started: from, Reservations: []plan.Reservation{{Workload: w, At: from}}}},
			SpentBudgets: map[string]time.Time{"shop/d": from.Add(SpentBudgetTTL)},
			Breaker:      &plan.BreakerTrip{At: from, Until: from.Add(10 * time.Minute)},
		}
	}
	for shift, want := range map[time.Duration]int{-time.Hour: 0, 0: 0, maxClockSkew: 0} {
		if got, moved := ClampFuture(at(shift), noon); moved != want || !cmp.Equal(got, at(shift)) {
			t.Errorf("%s ahead: moved %d, %s", shift, moved, cmp.Diff(at(shift), got))
		}
	}
	got, moved := ClampFuture(at(day), noon)
	if d := cmp.Diff(at(0), got); moved == 0 || d != "" {
		t.Errorf("a day ahead: moved %d, %s", moved, d)
	}
	if _, held := ActiveBackoff(got, w, noon.Add(10*time.Minute)); held || CountLastHour(got, noon.Add(61*time.Minute)).Cluster != 0 {
		t.Error("the back-off or the hour lasts longer than it would have")
	}
	both := at(day)
	both.Evictions = append(at(0).Evictions, both.Evictions...)
	if got, _ := ClampFuture(both, noon); len(got.Evictions) != 1 || got.Evictions[0].Count != 4 {
		t.Errorf("evictions of one minute: %+v, want 4 in one entry", got.Evictions)
	}
}
