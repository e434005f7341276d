package waiting

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
)

// add adds a stored plan that is open. Plans that a pass executes without asking are left out, and plans that are
// larger than those of passes: their status could not be written.
func (p *Plans) add(o *v1alpha1.RebalancePlan) {
	st := &o.Status
	if len(o.Spec.Moves) == 0 || !record.Fits(&o.Spec) || o.Spec.Mode != v1alpha1.ModeApprove && !st.Foreign && st.Phase != "" {
		return
	}
	w := Plan{Plan: record.PlanOf(o), Name: o.Name, Since: o.CreationTimestamp.UTC(), Foreign: st.Foreign || st.Phase == "",
		generation: st.ObservedGeneration, phase: st.Phase, why: st.Message, object: o}
	if w.phase == "" || w.phase == v1alpha1.PhaseApproved { // setStatus adds the latter
		w.phase = v1alpha1.PhaseWaiting
	}
	for _, x := range st.Steps {
		w.Decisions = append(w.Decisions, decisionOf(x))
	}
	slices.SortFunc(w.Decisions, func(a, b Decision) int { return cmp.Compare(a.Step, b.Step) })
	if (w.isDecided() || w.isEnded()) && !w.isRunning() {
		p.Marked = append(p.Marked, w)
	} else {
		p.Waiting = append(p.Waiting, w)
	}
}

// stepStates are the states in the status of a plan that no execution writes.
var stepStates = map[v1alpha1.StepState]State{v1alpha1.StepApproved: Approved, v1alpha1.StepDiscarded: Discarded, v1alpha1.StepReplaced: Replaced,
	v1alpha1.StepDropped: Dropped, v1alpha1.StepBlocked: Dropped, v1alpha1.StepGone: Gone}

// decisionOf returns what a status says about a step.
func decisionOf(x v1alpha1.StepStatus) Decision {
	d := Decision{Step: int(x.Step), State: cmp.Or(stepStates[x.State], Executed), By: x.DecidedBy}
	if x.DecidedAt != nil {
		d.At = x.DecidedAt.UTC()
	}
	return d
}

// setStatus writes the plan to a status. It changes no outcome of an execution.
func (w *Plan) setStatus(st *v1alpha1.RebalancePlanStatus) {
	known := map[int32]v1alpha1.StepStatus{}
	for _, x := range st.Steps {
		known[x.Step] = x
	}
	st.Steps, st.Foreign, st.Closed, st.ObservedGeneration = nil, w.Foreign, w.closed, w.generation
	for _, d := range w.Decisions {
		x, found := known[int32(d.Step)]
		if !found || decisionOf(x) != d {
			at := metav1.NewTime(d.At)
			x = v1alpha1.StepStatus{Step: int32(d.Step), DecidedBy: d.By, DecidedAt: &at}
			for stored, state := range stepStates {
				if state == d.State && state != Dropped && state != Gone {
					x.State = stored
				}
			}
		}
		st.Steps = append(st.Steps, x)
	}
	if st.Phase, st.Message = w.phase, w.why; w.phase == v1alpha1.PhaseWaiting && w.count(Approved) > 0 {
		st.Phase = v1alpha1.PhaseApproved
	}
}

// Known returns the plans after a look whether the release made them. A plan of the release whose spec has changed is
// not its plan any more.
func (p Plans) Known(made []plan.StoredPlan) Plans {
	p = p.clone()
	for _, list := range [][]Plan{p.Waiting, p.Marked} {
		for i := range list {
			w := &list[i]
			w.Foreign = w.object.Status.Foreign || !slices.Contains(made, w.stored())
		}
	}
	return p
}

func (w *Plan) stored() plan.StoredPlan {
	return plan.StoredPlan{Name: w.Name, UID: string(w.object.UID), Hash: record.Hash(&w.object.Spec)}
}

// Made identifies the plans that the release made. The plans must be stored.
func (p Plans) Made() (out []plan.StoredPlan) {
	for _, list := range [][]Plan{p.Waiting, p.Marked} {
		for i := range list {
			if !list[i].Foreign {
				out = append(out, list[i].stored())
			}
		}
	}
	return lastOf(out, plan.MaxMade)
}

// Register takes the decisions of people into account that the plans do not know yet. A decision that was set together
// with its plan does not count.
func (p Plans) Register(now time.Time) Plans {
	p = p.clone()
	for _, list := range [][]Plan{p.Waiting, p.Marked} {
		for i := range list {
			list[i].register(now)
		}
	}
	var left []Plan
	for _, w := range p.Marked {
		if w.isDecided() || w.isEnded() {
			left = append(left, w)
			continue
		}
		w.phase, w.why = v1alpha1.PhaseWaiting, "" // a discard was taken back, or a step is approved again
		p.Waiting = append(p.Waiting, w)
	}
	p.Marked = left
	return p.Expire(now)
}

func (w *Plan) register(now time.Time) {
	o := w.object
	if w.generation >= o.Generation {
		return
	}
	w.generation = o.Generation
	d := o.Decision
	if d == nil || o.Generation == 1 {
		d = &v1alpha1.Decision{}
	}
	next := map[int]State{}
	for _, step := range w.selected(d.Approve) {
		next[step] = Approved
	}
	for _, step := range w.selected(d.Discard) {
		next[step] = Discarded
	}
	at := now.UTC().Truncate(time.Second)
	for _, m := range w.Moves {
		is, wanted := w.StateOf(m.Step).State, cmp.Or(next[m.Step], Waiting)
		switch {
		case is == Executed || is == Gone || is == wanted, is == Replaced, is == Dropped && wanted == Waiting, w.isEnded() && is != Discarded:
		case w.isEnded(): // its discard is taken back, or it is approved too late
			w.decide([]int{m.Step}, Decision{State: Replaced, At: at})
		case wanted == Waiting:
			w.Decisions = slices.DeleteFunc(w.Decisions, func(d Decision) bool { return d.Step == m.Step })
		default:
			w.decide([]int{m.Step}, Decision{State: wanted, By: d.By, At: at})
		}
	}
}

// selected returns the numbers of the steps that a selection names, with those that belong to them.
func (w *Plan) selected(x *v1alpha1.StepSelection) []int {
	steps := map[int]bool{}
	for _, m := range w.Moves {
		if x != nil && (x.All || slices.Contains(x.Strategies, m.Strategy) || slices.Contains(x.Steps, int32(m.Step))) {
			steps[m.Step] = true
		}
	}
	all, _ := w.withPairs(slices.Sorted(maps.Keys(steps)))
	return all
}
