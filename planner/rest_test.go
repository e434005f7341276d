package planner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestTheRestOfAPassCountsWhatItDid: Replan counts the evictions of the first plan against every limit of the pass.
// Against perHour, these evictions count once, from the planner state.
func TestTheRestOfAPassCountsWhatItDid(t *testing.T) {
	for _, c := range []struct {
		limits string
		done   int
		moves  int
		code   plan.Code
	}{
		{"{perPass: 3, perNamespace: unlimited, perOwner: unlimited}", 0, 2, ""},
		{"{perPass: 3, perNamespace: unlimited, perOwner: unlimited}", 2, 1, plan.LimitPerPass},
		{"{perPass: 3, perNamespace: unlimited, perOwner: unlimited}", 3, 0, plan.LimitPerPass},
		{"{perNode: 3, perNamespace: unlimited, perOwner: unlimited}", 2, 1, plan.LimitPerNode},
		{"{perOwner: 3, perNamespace: unlimited}", 2, 1, plan.LimitPerOwner},
		{"{perNamespace: 3, perOwner: unlimited}", 2, 1, plan.LimitPerNamespace},
		{"{perZone: 3, perNamespace: unlimited, perOwner: unlimited}", 2, 1, plan.LimitPerZone},
		{"{perHour: {owner: 4, namespace: 4, cluster: 4}, perNamespace: unlimited, perOwner: unlimited}", 2, 2, ""},
		{"{perHour: {owner: 3}, perNamespace: unlimited, perOwner: unlimited}", 2, 1, plan.LimitPerHour},
	} {
		s, p, goals, made := planTwoMoves(t, c.limits)
		gone := slices.Repeat(made.Moves[:1], c.done)
		for i := range gone {
			gone[i].Pod.Name, gone[i].Pod.UID = "gone", "gone"
		}
		st := plan.PlannerState{}
		if c.done > 0 {
			st = stateAfterEviction(made.Moves[0], c.done, s.TakenAt)
		}
		got := p.Replan(s, st, goals, gone, s.TakenAt, s.TakenAt)
		if len(got.Moves) != c.moves || c.code != "" && got.Rejections.Counts[c.code] == 0 {
			t.Errorf("%s after %d: %d moves, want %d; %v", c.limits, c.done, len(got.Moves), c.moves, got.Rejections.Counts)
		}
	}
}

// TestAPassLeavesItsReplacementsAlone: Replan does not move pods that started after the pass began.
func TestAPassLeavesItsReplacementsAlone(t *testing.T) {
	s, p, goals, _ := planTwoMoves(t, "{}")
	began := s.Pods[0].Object.Status.StartTime.Add(-time.Second)
	if got := p.Replan(s, plan.PlannerState{}, goals, nil, began, s.TakenAt); len(got.Moves) > 0 ||
		got.Rejections.Counts[plan.PodTooYoung] == 0 {
		t.Errorf("%d moves, %v", len(got.Moves), got.Rejections.Counts)
	}
	if got := p.Replan(s, plan.PlannerState{}, goals, nil, began.Add(3*time.Second), s.TakenAt); len(got.Moves) != 2 {
		t.Errorf("%d moves, want 2, of the older pods", len(got.Moves))
	}
}

// TestAReplacementStaysForAWhile: a pod that started after an eviction of its workload may be the replacement. The
// planner does not move such a pod for evictor.backoff (10 minutes).
func TestAReplacementStaysForAWhile(t *testing.T) {
	s, p, goals, made := planTwoMoves(t, "{}")
	start := s.Pods[0].Object.Status.StartTime.Time
	for _, c := range []struct {
		evicted, age time.Duration // from the start of the pods to the eviction; age of the pods
		moves        int
	}{
		{-time.Second, 9 * time.Minute, 0},
		{500 * time.Millisecond, 9 * time.Minute, 2}, // start times are in whole seconds
		{-500 * time.Millisecond, 9 * time.Minute, 0},
		{-time.Second, 10 * time.Minute, 2},
		{time.Second, 9 * time.Minute, 2}, // the pods started before the eviction
	} {
		st := stateAfterEviction(made.Moves[0], 1, start)
		st.Evictions[0].First = start.Add(c.evicted)
		got := p.Plan(s, st, goals, start.Add(c.age))
		if len(got.Moves) != c.moves || (got.Rejections.Counts[plan.BackedOff] == 0) != (c.moves > 0) {
			t.Errorf("evicted %s after they started, %s old: %d moves, %v; want %d", c.evicted, c.age, len(got.Moves),
				got.Rejections.Counts, c.moves)
		}
	}
}

// TestTheRestOfAPassCountsFailuresOfJobs: Replan counts the evictions of the first plan as failures of the Job. The
// status of the Job may not include them yet.
func TestTheRestOfAPassCountsFailuresOfJobs(t *testing.T) {
	s, opts, goals := loadScenario(t, "job-failures-add-up")
	p := planner.New(opts)
	made := p.Plan(s, plan.PlannerState{}, goals, s.TakenAt)
	if len(made.Moves) == 0 {
		t.Fatal("no move")
	}
	if got := p.Replan(s, plan.PlannerState{}, goals, nil, s.TakenAt, s.TakenAt); len(got.Moves) != len(made.Moves) {
		t.Errorf("%d moves without an earlier eviction, want %d", len(got.Moves), len(made.Moves))
	}
	done := slices.Clone(made.Moves)
	for i := range done {
		done[i].Pod.Name, done[i].Pod.UID = "gone", "gone"
	}
	if got := p.Replan(s, plan.PlannerState{}, goals, done, s.TakenAt, s.TakenAt); len(got.Moves) > 0 ||
		got.Rejections.Counts[plan.JobWouldFail] == 0 {
		t.Errorf("%d moves, %v", len(got.Moves), got.Rejections.Counts)
	}
}
