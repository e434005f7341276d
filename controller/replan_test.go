package controller_test

import (
	"slices"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// secondMoveDroppingPlanner plans two moves in two waves. The recheck drops the second move, and
// the replan has one move.
type secondMoveDroppingPlanner struct {
	scriptedPlanner
	code      plan.Code
	done      [][]plan.Move
	rechecked []int // waves that were rechecked
}

func (p *secondMoveDroppingPlanner) Plan(*cluster.Snapshot, plan.PlannerState, []plan.Goal, time.Time) plan.Plan {
	return plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, Pod: podRef("a")}, {Step: 2, Wave: 2, Pod: podRef("b")}}}
}

func (p *secondMoveDroppingPlanner) Recheck(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, of plan.Plan, wave int,
	_ time.Time) ([]plan.Move, []plan.Outcome) {
	p.rechecked = append(p.rechecked, wave)
	m := of.Moves[0]
	if m.Pod.Name == "b" && p.code != "" {
		return nil, []plan.Outcome{{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: plan.Reason{Code: p.code}}}
	}
	return []plan.Move{m}, nil
}

func (p *secondMoveDroppingPlanner) Replan(_ *cluster.Snapshot, _ plan.PlannerState, _ []plan.Goal, done []plan.Move,
	_, _ time.Time) plan.Plan {
	p.done = append(p.done, done)
	return plan.Plan{Moves: []plan.Move{{Step: 1, Wave: 1, Pod: podRef("c")}}, Hints: []plan.WaveHints{{Wave: 1}}}
}

func podRef(name string) plan.PodRef { return plan.PodRef{Namespace: "shop", Name: name, UID: name} }

func TestAPassPlansAgainForWhatFellAway(t *testing.T) {
	p, e := &secondMoveDroppingPlanner{code: plan.PremiseChanged}, &scriptedEvictor{}
	c, _ := newController(t, e, plan.Live)
	c.Planner = p
	m := &memoryStore{}
	c.Store = m
	r := must.Get(c.RunOnce(t.Context(), nil))(t)
	if len(p.done) != 1 || len(p.done[0]) != 1 || p.done[0][0].Step != 1 {
		t.Fatalf("replanned with %v, want once with the first move", p.done)
	}
	if r.Replan == nil || r.Replan.Moves[0].Step != 3 || r.Replan.Moves[0].Wave != 3 || r.Replan.Hints[0].Wave != 3 ||
		r.Replan.ID != plan.ContentID(*r.Replan) {
		t.Fatalf("got replan %+v, want step 3 in wave 3 with its hints", r.Replan)
	}
	var kinds []plan.OutcomeKind
	for i, o := range r.Outcomes {
		if kinds = append(kinds, o.Outcome); o.Step != i+1 {
			t.Errorf("outcome %d has step %d", i, o.Step)
		}
	}
	if !slices.Equal(kinds, []plan.OutcomeKind{plan.Evicted, plan.Dropped, plan.Evicted}) || !slices.Equal(p.rechecked, []int{1, 2, 3}) {
		t.Errorf("got outcomes %v, rechecked waves %v", kinds, p.rechecked)
	}
	if st := m.decode(t); len(st.Runs) != 0 || len(r.Moves()) != 3 {
		t.Errorf("got %d open runs, %d moves in total", len(st.Runs), len(r.Moves()))
	}
}

// The pass also replans if a replacement landed elsewhere.
func TestAPassPlansAgainForWhatLandedElsewhere(t *testing.T) {
	p := &secondMoveDroppingPlanner{}
	elsewhere := evictor.Result{Outcomes: []plan.Outcome{{Step: 1, Pod: podRef("a"), Outcome: plan.Evicted, Landed: "n9",
		Reason: plan.Reason{Code: plan.LandedElsewhere}}}}
	c, _ := newController(t, &scriptedEvictor{results: []evictor.Result{elsewhere}}, plan.Live)
	c.Planner = p
	r, err := c.RunOnce(t.Context(), nil)
	if err != nil || len(p.done) != 1 || len(p.done[0]) != 2 || r.Replan == nil || len(r.Outcomes) != 3 {
		t.Errorf("got error %v, replanned with %v, outcomes %+v", err, p.done, r.Outcomes)
	}
}

// The pass does not replan if it must not evict, or if a second plan would not help.
func TestAPassDoesNotPlanAgain(t *testing.T) {
	stop := evictor.Result{Outcomes: []plan.Outcome{{Step: 1, Outcome: plan.Evicted}}, Stop: &plan.Reason{Code: plan.ReplacementNotReady}}
	for _, x := range []struct {
		name  string
		code  plan.Code
		mode  plan.Mode
		first []evictor.Result
		saved bool
	}{
		{"a dry run", plan.PremiseChanged, plan.DryRun, nil, false},
		{"blocked by a budget", plan.LastReadyPod, plan.Live, nil, false},
		{"as planned", "", plan.Live, nil, false},
		{"stopped", plan.PremiseChanged, plan.Live, []evictor.Result{stop}, false},
		{"approved", plan.PremiseChanged, plan.Live, nil, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := &secondMoveDroppingPlanner{code: x.code}
			c, o := newController(t, &scriptedEvictor{results: x.first}, x.mode)
			useInstantTimers(c)
			c.Planner = p
			var r plan.RunReport
			var err error
			if x.saved {
				pl := p.Plan(nil, plan.PlannerState{}, nil, time.Time{})
				pl.Expires, pl.Cluster.UID = c.Clock.Now().Add(time.Minute), o.s.ClusterUID
				pl.ID = plan.ContentID(pl)
				r, err = apply(t.Context(), t, c, pl)
			} else {
				r, err = c.RunOnce(t.Context(), nil)
			}
			if err != nil || len(r.Outcomes) != 2 || len(p.done) > 0 || r.Replan != nil {
				t.Errorf("got error %v, replanned with %v, outcomes %+v, replan %+v", err, p.done, r.Outcomes, r.Replan)
			}
		})
	}
}
