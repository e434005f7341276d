package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/annotation"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/guard"
)

// Recheck judges one wave of a plan against a fresh snapshot, just before it is
// carried out. It returns the moves that still hold, with their landings
// predicted anew, and an outcome for each that does not. It never adds a move.
func (p *Planner) Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, pl plan.Plan, wave int, now time.Time) (ok []plan.Move, dropped []plan.Outcome) {
	c := p.newSearch(s, st, number(s, goals), now)
	start := c.afresh()
	w := newWave(newLost())
	for _, m := range pl.Moves {
		if m.Wave != wave {
			continue
		}
		fresh, out, holds := c.recheck(start, w, m)
		if !holds {
			dropped = append(dropped, out)
			continue
		}
		ok = append(ok, fresh)
	}
	return ok, dropped
}

func (c *search) recheck(start *search, w *wave, m plan.Move) (plan.Move, plan.Outcome, bool) {
	drop := func(kind plan.OutcomeKind, code plan.Code, msg string) (plan.Move, plan.Outcome, bool) {
		return m, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}, false
	}
	p := find(c.s, m.Pod)
	switch {
	case p == nil:
		return drop(plan.Gone, plan.PodGoneAlready, "the pod is gone")
	case m.Pod.UID != "" && string(p.Object.UID) != m.Pod.UID:
		return drop(plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now")
	case p.Node == cluster.NoNode || c.s.Nodes[p.Node].Name != m.From:
		return drop(plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From)
	}
	if r, refused := c.verdict.of(p.ID); refused {
		kind := plan.Dropped
		if r.Code == plan.BlockedByPDB {
			kind = plan.Blocked
		}
		return drop(kind, r.Code, r.Message)
	}
	if why, fails := guard.JobFails(c.s, p, w.owner[p.Workload]); fails {
		return drop(plan.Dropped, plan.JobWouldFail, why)
	}
	if !w.room(start, p.ID) {
		return drop(plan.Dropped, plan.PremiseChanged, "fewer pods may be away at once than when the plan was made")
	}
	l, r, good := start.land(p.ID)
	if good && w.total > 0 {
		l, r, good = c.land(p.ID)
	}
	if !good {
		return drop(plan.Dropped, plan.PremiseChanged, fmt.Sprintf("%s: %s", r.Code, r.Message))
	}
	fresh := c.refresh(p, m, l)
	c.apply(step{pod: p.ID, from: p.Node, landing: l})
	w.add(start, p.ID)
	return fresh, plan.Outcome{}, true
}

// refresh puts the new prediction into the move; what it is for stays.
func (c *search) refresh(p *cluster.Pod, m plan.Move, l landing) plan.Move {
	s := c.s
	m.NotAfter, m.Read = c.verdict.notAfter(p), annotation.Read(p.Object)
	m.Goals = slices.Clone(m.Goals)
	m.To, m.Acceptable.Nodes = s.Nodes[l.to].Name, len(l.acceptable)
	m.PGood, m.PReturn, m.PPending = l.pGood, l.pReturn, l.pPending
	m.AcceptableNodes = nil
	for _, n := range l.acceptable {
		m.AcceptableNodes = append(m.AcceptableNodes, s.Nodes[n].Name)
	}
	return m
}

func find(s *cluster.Snapshot, ref plan.PodRef) *cluster.Pod {
	if ref.UID != "" {
		if p := s.PodByUID(ref.UID); p != nil {
			return p
		}
	}
	return s.PodByKey(ref.String())
}
