package controller_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/plan"
)

// emptyingReport runs a plan that empties n1 by two waves and n2 by one. The first eviction ends with the outcome.
func emptyingReport(t *testing.T, first plan.OutcomeKind, code plan.Code, writer *fakeHintWriter) (plan.RunReport, []int) {
	t.Helper()
	pod := func(name string) plan.PodRef { return plan.PodRef{Namespace: "shop", Name: name, UID: name} }
	node := func(id, name string) plan.Goal {
		return plan.Goal{ID: id, Kind: plan.NodeEmpty, Strategy: "pack", Subject: plan.ObjectRef{Kind: "Node", Name: name}, Excess: 1,
			KeepEmptyFor: 24 * time.Hour}
	}
	p := plan.Plan{Hints: []plan.WaveHints{{Wave: 1, Kind: "taint", Nodes: []string{"n1"}}}, Goals: []plan.Goal{node("g1", "n1"), node("g2", "n2")}, Moves: []plan.Move{
		{Step: 1, Wave: 1, Pod: pod("web-0"), From: "n1", Goals: []string{"g1"}},
		{Step: 2, Wave: 2, Pod: pod("web-1"), From: "n1", Goals: []string{"g1"}},
		{Step: 3, Wave: 2, Pod: pod("web-2"), From: "n2", Goals: []string{"g2"}},
	}}
	e := &scriptedEvictor{results: []evictor.Result{{Outcomes: []plan.Outcome{{Step: 1, Pod: pod("web-0"), Outcome: first,
		Reason: plan.Reason{Code: code, Message: "the API server refused the eviction"}}}}}}
	c, _ := newController(t, e, plan.Live)
	c.Planner, c.HintWriter = fixedPlanner{p: p}, writer
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, wave := range e.waves {
		for _, m := range wave {
			steps = append(steps, m.Step)
		}
	}
	return r, steps
}

// TestNodeWithAPodThatStays checks that no further pod leaves a node after an eviction from it has
// failed. Only nodes that are empty keep a hint.
func TestNodeWithAPodThatStays(t *testing.T) {
	for _, c := range []struct {
		first plan.OutcomeKind
		code  plan.Code
		want  []int
		kept  string
	}{
		{plan.Evicted, "", []int{1, 2, 3}, "n1 n2"},
		{plan.AlreadyGone, plan.PodGoneAlready, []int{1, 2, 3}, "n1 n2"},
		{plan.InProgress, plan.EvictionInBackground, []int{1, 2, 3}, "n2"},
		{plan.Blocked, plan.BlockedByPDB, []int{1, 3}, "n2"},
		{plan.Dropped, plan.PremiseChanged, []int{1, 3}, "n2"},
		{plan.UnknownOutcome, plan.OutcomeUnknown, []int{1, 3}, "n2"},
	} {
		writer := &fakeHintWriter{on: map[string]hints.Hint{}}
		r, got := emptyingReport(t, c.first, c.code, writer)
		if !slices.Equal(got, c.want) {
			t.Errorf("after the outcome %s: steps %v were executed, want %v; %+v", c.first, got, c.want, r.Outcomes)
		}
		if kept := strings.Join(slices.Sorted(maps.Keys(writer.on)), " "); kept != c.kept {
			t.Errorf("after the outcome %s: hints on %q, want %q", c.first, kept, c.kept)
		}
		start := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
		for _, h := range writer.on {
			if !h.KeepsEmpty() || h.Kind != hints.Taint || h.Expired(start) || !h.Expired(start.Add(24*time.Hour)) {
				t.Errorf("after the outcome %s: the hint is %+v", c.first, h)
			}
		}
	}
}
