package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Recheck checks one wave of a plan against a fresh snapshot, just before the wave is executed. Recheck returns the
// moves that are still valid, with new predicted landings, and an outcome for each dropped move. Recheck never adds a
// move.
//
// If the wave has hints, Recheck first assumes the planned hints. If these hints are impossible now or no steered
// move remains valid, Recheck checks the other moves without hints and drops all steered moves.
func (p *Planner) Recheck(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, pl plan.Plan, wave int,
	now time.Time) (ok []plan.Move, dropped []plan.Outcome) {
	goals = goal.Number(s, withUnderUtilized(goals))
	var moves []plan.Move
	for _, m := range pl.Moves {
		if m.Wave == wave {
			moves = append(moves, m)
		}
	}
	turn, opts := strategyTurnOf(&p.opts, moves), inMode(&p.opts, modeOfMoves(&p.opts, moves))
	begin := func() *recheck {
		p := search.NewProblem(opts, s, st, goals, now)
		p.Account.Limits.AddReservations(st.Runs)
		p.SetTurn(p.Start, turn)
		r := &recheck{problem: p, sim: p.Start, account: p.Account, plan: &pl}
		r.startEmptying(moves)
		return r
	}
	if !emptiesNode(&pl, moves) {
		return recheckWave(begin, pl, wave, moves)
	}
	moves, blocked := begin().dropBlockedNodes(moves)
	ok, dropped = recheckWave(begin, pl, wave, moves)
	ok, more := keepWholeNodes(pl, ok, dropped)
	return ok, slices.Concat(blocked, dropped, more)
}

// recheckWave checks the moves of a wave with its planned hints, and without hints if they are impossible.
func recheckWave(begin func() *recheck, pl plan.Plan, wave int, moves []plan.Move) (ok []plan.Move, dropped []plan.Outcome) {
	planned := pl.HintsForWave(wave)
	if len(planned.Nodes) == 0 {
		return recheckAll(begin, pl, moves, nil)
	}
	hinted, why := begin().findPlannedHints(planned)
	if why == "" {
		ok, dropped = recheckAll(begin, pl, moves, hinted)
		if slices.ContainsFunc(ok, plan.Move.Steered) {
			return ok, dropped
		}
	}
	steered := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return !m.Steered() })
	rest := slices.DeleteFunc(moves, plan.Move.Steered)
	known := dropped
	ok, dropped = recheckAll(begin, pl, rest, nil)
	for _, m := range steered {
		o := plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped,
			Reason: plan.Reason{Code: plan.PremiseChanged, Message: "it cannot be steered now: " + why}}
		if i := slices.IndexFunc(known, func(o plan.Outcome) bool { return o.Step == m.Step }); i >= 0 {
			o = known[i]
		}
		dropped = append(dropped, o)
	}
	return ok, dropped
}

// withUnderUtilized returns the goals without waits for under-utilized nodes. There were enough of
// these nodes when the plan was made, and its moves fill them.
func withUnderUtilized(goals []plan.Goal) []plan.Goal {
	out := slices.Clone(goals)
	for i := range out {
		if out[i].Wait.Code == plan.TooFewUnderUtilized {
			out[i].Constraint, out[i].Wait = false, plan.Reason{}
		}
	}
	return out
}

// recheck checks moves of a plan again, in the order of the plan, in one wave on a new snapshot. The limits count the
// evictions that the pass has reserved.
type recheck struct {
	problem *search.Problem
	sim     *search.Simulation // the cluster after the moves that are kept so far
	account *search.Account
	plan    *plan.Plan
	wave    *search.Wave
}

// findPlannedHints returns the nodes of a wave's hints, or the reason why these nodes can no longer be hinted.
func (r *recheck) findPlannedHints(h plan.WaveHints) ([]cluster.NodeID, string) {
	if string(r.sim.Steering.Kind) != h.Kind {
		return nil, fmt.Sprintf("the plan steers by %s, and evictor.steer is %s", h.Kind, r.sim.Steering.Kind)
	}
	var out []cluster.NodeID
	for _, name := range h.Nodes {
		n := r.sim.Snapshot.NodeByName(name)
		if n == nil {
			return nil, fmt.Sprintf("node %s is gone", name)
		}
		out = append(out, n.ID)
	}
	return out, r.sim.Steering.Forbids(out)
}

// recheckAll rechecks the moves until each of them is certain also once the others are gone. A move
// that leaves the wave changes the landings of the others, so they are checked again as if the wave
// had never had that move. If a move that empties a node is dropped, the other moves of the node
// leave the wave, too.
func recheckAll(begin func() *recheck, pl plan.Plan, moves []plan.Move, hinted []cluster.NodeID) (ok []plan.Move, dropped []plan.Outcome) {
	for again := true; again; {
		var out []plan.Outcome
		moves, out, again = begin().checkOnce(moves, hinted)
		dropped = append(dropped, out...)
		if !again {
			moves, out = keepWholeNodes(pl, moves, dropped)
			dropped, again = append(dropped, out...), len(out) > 0
		}
	}
	return moves, dropped
}

// checkOnce checks each move once. If some are not certain, it drops them and returns again.
func (r *recheck) checkOnce(moves []plan.Move, hinted []cluster.NodeID) (ok []plan.Move, dropped []plan.Outcome, again bool) {
	w := r.problem.NewWave()
	r.wave = w
	search.SetHints([]*search.Simulation{w.Start, w.Now, w.Crowded}, hinted)
	for _, m := range moves {
		fresh, out := r.check(m)
		if out.Outcome != "" {
			dropped = append(dropped, out)
			continue
		}
		ok = append(ok, fresh)
	}
	_, left := w.CertainMoves(func(i int, m search.Move, l *search.Landing) {
		nodes := w.Start.AcceptableNodes(m, l).Append(nil)
		ok[i].AcceptableNodes = addNodeNames(r.sim.Snapshot, ok[i].AcceptableNodes, nodes)
	})
	var kept []plan.Move
	for i, m := range ok {
		if why, gone := left[i]; gone {
			dropped = append(dropped, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped,
				Reason: plan.Reason{Code: plan.PremiseChanged, Message: why}})
			continue
		}
		p := FindPod(r.sim.Snapshot, m.Pod)
		m.ReadyRequirements = r.account.Eligibility.ReadyRequirements(p, r.sim.Options.StrategyIndex(m.Strategy), w.InFlight.Owner[p.Workload])
		kept = append(kept, m)
	}
	return kept, dropped, len(left) > 0
}

// check checks a move again and adds it to the wave, or returns why it is dropped.
func (r *recheck) check(m plan.Move) (plan.Move, plan.Outcome) {
	drop := func(kind plan.OutcomeKind, code plan.Code, msg string) (plan.Move, plan.Outcome) {
		return m, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}
	}
	p := FindPod(r.sim.Snapshot, m.Pod)
	switch {
	case p == nil:
		return drop(plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone")
	case m.Pod.UID != "" && string(p.Object.UID) != m.Pod.UID:
		return drop(plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now")
	case p.Node == cluster.NoNode || r.sim.Snapshot.Nodes[p.Node].Name != m.From:
		return drop(plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From)
	}
	if no := cmp.Or(r.removalProblem(m, p), r.withoutPlaceProblem(m)); no.Code != "" {
		return drop(plan.Dropped, no.Code, no.Message)
	}
	move := search.Move{Pod: p.ID, Kind: search.MoveKindOf(m, p), Strategy: r.sim.Options.StrategyIndex(m.Strategy)}
	if move.Strategy == limits.NoStrategy && r.sim.Options.HasStrategyRules() {
		return drop(plan.Dropped, plan.PremiseChanged, "the configuration has no strategy "+strconv.Quote(m.Strategy))
	}
	reserved := r.isReserved(m)
	if no, refused := r.account.RefuseAgain(move, r.wave.InFlight.Owner[p.Workload], reserved); refused {
		kind := plan.Dropped
		if no.Code == plan.BlockedByPDB {
			kind = plan.Blocked
		}
		return drop(kind, no.Code, no.Message)
	}
	// A landing is valid until the next prediction in its state, so its nodes are listed at once.
	var nodes []cluster.NodeID
	r.wave.Seen = func(at *search.Simulation, move search.Move, l *search.Landing) {
		nodes = at.AcceptableNodes(move, l).Append(nodes)
	}
	step, verdict, no := r.wave.Admit(move, func(st *search.Step) (search.Verdict, plan.Reason) {
		if move.Kind == search.WithoutPlace {
			nodes = search.NodesWithoutPlace(r.sim, move)
		} else {
			last := r.sim.AcceptableNodes(move, &st.Landing)
			st.Landing.Acceptable = last.Count
			nodes = last.Append(nodes)
		}
		return r.stillHelps(m, st)
	})
	switch {
	case verdict == search.Admitted:
	case no.Code == plan.NotNeeded, no.Code == plan.PremiseChanged:
		return drop(plan.Dropped, no.Code, no.Message)
	case verdict == search.Refused:
		return drop(plan.Dropped, plan.PremiseChanged, fmt.Sprintf("%s: %s", no.Code, no.Message))
	default:
		return drop(plan.Dropped, plan.PremiseChanged, no.Message)
	}
	slices.Sort(nodes)
	fresh := r.refresh(p, m, step.Landing, slices.Compact(nodes))
	r.wave.Join(step)
	if !reserved {
		r.account.Charge(move)
	}
	return fresh, plan.Outcome{}
}

// strategyTurnOf returns the turn of the strategies for which the moves are made. A plan has no wave with
// moves of two turns; if a person has edited the plan, the stricter rule applies.
func strategyTurnOf(o *search.Options, moves []plan.Move) goal.Turn {
	firm, soft := 0, 0
	for _, m := range moves {
		switch i := o.StrategyIndex(m.Strategy); {
		case i >= 0 && o.Strategies[i].Soft:
			soft++
		case i >= 0:
			firm++
		}
	}
	switch len(moves) {
	case firm:
		return goal.FirmTurn
	case soft:
		return goal.SoftTurn
	}
	return goal.EveryTurn
}

// modeOfMoves returns the mode of the strategies for which all these moves are made, or "" if it is
// not the same for all.
func modeOfMoves(o *search.Options, moves []plan.Move) plan.StrategyMode {
	var mode plan.StrategyMode
	for k, m := range moves {
		i := o.StrategyIndex(m.Strategy)
		if i < 0 {
			return ""
		}
		of := cmp.Or(o.Strategies[i].Mode, plan.Automatic)
		if k > 0 && of != mode {
			return ""
		}
		mode = of
	}
	return mode
}

// isReserved reports whether the limits already count this move, because a pass has reserved it and
// has not recorded its outcome. A pass reserves each part of a wave after it has rechecked that
// part.
func (r *recheck) isReserved(m plan.Move) bool {
	return slices.ContainsFunc(r.problem.PlannerState.Runs, func(run plan.OpenRun) bool {
		return slices.ContainsFunc(run.Reservations, func(r plan.Reservation) bool {
			return m.Pod.UID != "" && r.Pod.UID == m.Pod.UID && r.Step == m.Step && r.Wave == m.Wave && r.Outcome == nil
		})
	})
}

// refresh replaces the prediction in the move. The scheduler may place the replacements of a wave in any order, so
// nodes has the nodes that are acceptable in one of the states that are predicted.
func (r *recheck) refresh(p *cluster.Pod, m plan.Move, l search.Landing, nodes []cluster.NodeID) plan.Move {
	s := r.sim.Snapshot
	m.Pod, m.Owner, m.GracePeriodSeconds = plan.PodRefOf(p), plan.OwnerRefOf(s, p), summary.GracePeriodSeconds(r.sim.Options, p)
	m.NotAfter, m.EligibilityInputs = r.account.Eligibility.AllowedUntil(p), annotation.Fingerprint(p.Object)
	m.RequestOnly = r.account.Eligibility.RequestOnly(p)
	m.To, m.Acceptable.Nodes = r.sim.NodeName(l.To), l.Acceptable
	m.Confidence, m.ReturnProbability, m.PendingProbability = l.Confidence, l.ReturnProbability, l.PendingProbability
	m.AcceptableNodes = addNodeNames(s, nil, nodes)
	return m
}

// addNodeNames adds the names of the nodes that are missing.
func addNodeNames(s *cluster.Snapshot, names []string, nodes []cluster.NodeID) []string {
	known := make([]bool, len(s.Nodes))
	for _, name := range names {
		if n := s.NodeByName(name); n != nil {
			known[n.ID] = true
		}
	}
	for _, n := range nodes {
		if !known[n] {
			names = append(names, s.Nodes[n].Name)
		}
	}
	return names
}

// FindPod returns the pod with the UID of ref. If no pod has this UID, FindPod returns the pod with the same
// namespace and name, or nil.
func FindPod(s *cluster.Snapshot, ref plan.PodRef) *cluster.Pod {
	named := s.PodByKey(ref.String())
	if ref.UID == "" || named != nil && string(named.Object.UID) == ref.UID {
		return named
	}
	if p := s.PodByUID(ref.UID); p != nil {
		return p
	}
	return named
}
