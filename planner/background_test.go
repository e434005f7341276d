package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// TestBackgroundCountsAsInFlight plans two moves of one Deployment from n3 while evictions of other workloads continue
// in the background. At most 16 may be in flight, and 5 from one node.
func TestBackgroundCountsAsInFlight(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{}")
	other := plan.ObjectRef{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "other"}
	for _, c := range []struct {
		name     string
		count    int
		from     string
		workload plan.ObjectRef
		pod      string
		age      time.Duration
		moves    int
		waves    int
	}{
		{"room for both", 14, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 2, 1},
		{"room for one", 15, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 2, 2},
		{"no room", 16, "elsewhere", other, string(s.Pods[0].Object.UID), 0, 0, 0},
		{"no room, but the pods are gone", 16, "elsewhere", other, "gone", 0, 2, 1},
		{"no room, but the time is over", 16, "elsewhere", other, string(s.Pods[0].Object.UID), time.Hour, 2, 1},
		{"room for one from the node", 4, "n3", other, string(s.Pods[0].Object.UID), 0, 2, 2},
		{"no room from the node", 5, "n3", other, string(s.Pods[0].Object.UID), 0, 0, 0},
		{"the same workload", 1, "elsewhere", history.WorkloadOfMove(made.Moves[0]), string(s.Pods[0].Object.UID), 0, 0, 0},
	} {
		since := s.TakenAt.Add(-c.age)
		st := plan.PlannerState{Background: slices.Repeat([]plan.BackgroundEviction{{Pod: plan.PodRef{Namespace: "shop", Name: "x", UID: c.pod},
			Workload: c.workload, From: c.from, Since: since, Until: since.Add(time.Hour)}}, c.count)}
		got := p.Plan(s, st, goals, s.TakenAt)
		waves := 0
		for _, m := range got.Moves {
			waves = max(waves, m.Wave)
		}
		if len(got.Moves) != c.moves || waves != c.waves || c.moves == 0 && got.Rejections.Counts[plan.EvictionInBackground] == 0 {
			t.Errorf("%s: %d moves in %d waves, want %d in %d; rejections %v", c.name, len(got.Moves), waves, c.moves, c.waves,
				got.Rejections.Counts)
		}
		if ok, _ := p.Recheck(s, st, goals, made, 1, s.TakenAt); len(ok) != min(c.moves, 3-c.waves) {
			t.Errorf("%s: %d moves of the wave are still valid, want %d", c.name, len(ok), min(c.moves, 3-c.waves))
		}
	}
}
