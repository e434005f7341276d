package planner

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// removalProblem returns the reason why a move must not be executed because its pod has ended, or
// has not. A pod that has ended is removed only if a goal of the move's strategy asks for it by the
// same request.
func (r *recheck) removalProblem(m plan.Move, p *cluster.Pod) plan.Reason {
	switch {
	case m.Removal == "" && p.Terminal:
		return plan.Reason{Code: plan.PodTerminal, Message: fmt.Sprintf("the pod has ended (%s)", p.Object.Status.Phase)}
	case m.Removal == "":
		return plan.Reason{}
	case !p.Terminal:
		return plan.Reason{Code: plan.PremiseChanged, Message: "the pod has not ended"}
	}
	if !slices.ContainsFunc(r.sim.Goals.Goals, func(g plan.Goal) bool {
		return g.Kind == plan.PodAway && g.Strategy == m.Strategy && g.Removal == m.Removal && g.Pods[0] == p.ID
	}) {
		return plan.Reason{Code: plan.NotNeeded, Message: "no goal of strategy " + m.Strategy + " needs the removal of the pod"}
	}
	return plan.Reason{}
}

// withoutPlaceProblem returns the reason why a move without a predicted place must not be executed:
// its strategy requires a place, or the other moves of its wave have places. Wave.Admit checks the rest.
func (r *recheck) withoutPlaceProblem(m plan.Move) plan.Reason {
	why := ""
	switch {
	case r.wave.MixesPlaces(m.WithoutPlace()):
		why = "moves with and without a predicted place are in one wave"
	case !m.WithoutPlace():
	case m.DisplacedFor != nil || m.Removal != "" || m.To != "":
		why = "a move without a predicted place has a node, makes room for another pod, or removes one that has ended"
	case !r.sim.Options.NeedsNoPlace(m.Strategy):
		why = "strategy " + m.Strategy + " requires a predicted place (landing: required)"
	}
	if why == "" {
		return plan.Reason{}
	}
	return plan.Reason{Code: plan.PremiseChanged, Message: why}
}

// stillHelps checks what the move is for: a goal of its strategy gains, or another pod still needs the room.
func (r *recheck) stillHelps(m plan.Move, st *search.Step) (search.Verdict, plan.Reason) {
	if st.Kind == search.MakeRoom {
		if no, needed := r.stillNeeded(m, &r.sim.Snapshot.Pods[st.Pod], st.Landing); !needed {
			return search.Refused, no
		}
		return search.Admitted, plan.Reason{}
	}
	if !r.improvesGoalOf(st.Strategy, st.Landing) {
		return search.Refused, plan.Reason{Code: plan.PremiseChanged,
			Message: "on the likeliest node, its replacement improves no goal of strategy " + m.Strategy}
	}
	return search.Admitted, plan.Reason{}
}
