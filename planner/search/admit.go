package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Verdict says whether a move belongs to a wave.
type Verdict int

const (
	Refused Verdict = iota
	NoRoom          // even an empty wave has no room for it
	Later           // a later wave may have room for it
	Admitted
)

// Admit decides whether a move belongs to the wave: the limits of pods in flight and the budgets allow it, its landing
// is acceptable in every order of the wave, and it leaves the others their places. The parameter choose, if not nil,
// may refuse a landing and change the strategy. Admit returns the move with its landing, or why it does not belong to
// the wave. The caller adds the move to the wave.
func (w *Wave) Admit(m Move, choose func(*Step) (Verdict, plan.Reason)) (Step, Verdict, plan.Reason) {
	st := Step{Move: m, From: w.Now.NodeOf(m.Pod)}
	a, reason := w.hasRoom(m)
	if a == Admitted {
		st.Landing, reason, a = kinds[m.Kind].rules.land(w, m)
	}
	if a == Admitted && choose != nil {
		a, reason = choose(&st)
	}
	if a == Admitted && !w.keepsPlaces(st.Move) {
		a, reason = Later, waitsForNextPass("other pods of the wave may take the room of a replacement")
	}
	return st, a, reason
}

// hasRoom reports whether the wave has room for the move, wherever its replacement lands.
func (w *Wave) hasRoom(m Move) (Verdict, plan.Reason) {
	hasRoom := w.InFlight.CanAdd(w.eligible, m.Pod)
	if !hasRoom && w.InFlight.Total == 0 {
		return NoRoom, waitsForNextPass(fewerMayBeAway)
	}
	if why := kinds[m.Kind].rules.whyLater(w, m, hasRoom); why != "" {
		return Later, waitsForNextPass(why)
	}
	return Admitted, plan.Reason{}
}

const fewerMayBeAway = "fewer pods may be away at once than when the plan was made"

func waitsForNextPass(why string) plan.Reason {
	return plan.Reason{Code: plan.WaitsForNextPass, Message: why}
}

// noRoomReason returns the reason why a pod does not fit into an empty wave.
func (w *Wave) noRoomReason(pod cluster.PodID) plan.Reason {
	if reason, no := w.consumed.Refuse(w.eligible, pod); no {
		return reason
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: "its landing depends on the order in which others are placed"}
}
