package answers

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// tiny is smaller than the rounding of the planner. Excess up to tiny is zero.
const tiny = 1e-9

// facts are what the answers say.
type facts struct {
	*view.View
	// plan has the moves that the answers are about. It is a proposal if only proposals have moves.
	plan *plan.Plan
	mode plan.StrategyMode
	// moves and waves include those that a stored plan leaves out, as far as that is known.
	moves, waves int
	// total, unmet and left count goals without nodes to empty: those that strategies state, those that are not met,
	// and those that stay unmet after the moves. met and better count those that the moves meet and improve.
	total, unmet, left, met, better int
	toEmpty, emptied                int
	goals                           []*plan.Goal // unmet before, as far as the plans list them
	worse                           []change
	lessHard                        int
	judged                          judgement
	// results is nil without a pass that evicts. running reports that the pass has not ended.
	results *results
	running bool
}

// change is a workload whose failure category changes.
type change struct{ now, after *plan.WorkloadState }

func newFacts(v *view.View) *facts {
	f := &facts{View: v, plan: &v.Plan, mode: v.Mode, judged: newJudgement(v)}
	for i := range v.Plan.Proposals {
		if of := &v.Plan.Proposals[i]; len(f.plan.Moves) == 0 && len(of.Plan.Moves) > 0 {
			f.plan, f.mode = &of.Plan, of.Mode
		}
	}
	f.moves = len(f.plan.Moves) + v.Omitted.Moves
	for i := range f.plan.Moves {
		f.waves = max(f.waves, f.plan.Moves[i].Wave)
	}
	if v.Run != nil && v.Run.Mode == plan.Live && len(f.plan.Moves)+len(v.Run.Outcomes) > 0 {
		f.results, f.running = countResults(v), v.Run.Finished.IsZero()
	}
	f.countGoals()
	f.compareWorkloads()
	return f
}

// plans returns the plan and its proposals.
func (f *facts) plans() []*plan.Plan {
	out := []*plan.Plan{&f.Plan}
	for i := range f.Plan.Proposals {
		out = append(out, &f.Plan.Proposals[i].Plan)
	}
	return out
}

func (f *facts) countGoals() {
	listed, empty := 0, map[string]int{}
	for _, p := range f.plans() {
		before, after := p.UnlistedGoals()
		listed += before
		counts := p == f.plan
		if counts {
			f.met = before - after
		}
		for i := range p.Goals {
			g := &p.Goals[i]
			left := p.After.Excess[g.ID]
			if g.Kind == plan.NodeEmpty {
				empty[g.Strategy]++
				if counts && left <= tiny {
					f.emptied++
				}
				continue
			}
			listed++
			f.goals = append(f.goals, g)
			switch {
			case !counts:
			case left <= tiny:
				f.met++
			case left < g.Excess-tiny:
				f.better++
			}
		}
	}
	for _, st := range f.Plan.Strategies {
		n := max(st.NodesToEmpty, empty[st.Name])
		f.total, f.unmet, f.toEmpty = f.total+st.Goals-n, f.unmet+st.Unmet-n, f.toEmpty+n
	}
	f.unmet = max(f.unmet, listed)
	f.total = max(f.total, f.unmet)
	f.left = f.unmet - f.met
}

func (f *facts) compareWorkloads() {
	type key struct{ namespace, kind, name string }
	before := make(map[key]*plan.WorkloadState, len(f.plan.Before.Workloads))
	for i := range f.plan.Before.Workloads {
		w := &f.plan.Before.Workloads[i]
		before[key{w.Namespace, w.Kind, w.Name}] = w
	}
	for i := range f.plan.After.Workloads {
		w := &f.plan.After.Workloads[i]
		switch was := before[key{w.Namespace, w.Kind, w.Name}]; {
		case was == nil:
		case w.CategoryCertain && w.FailureCategory < was.FailureCategory:
			f.worse = append(f.worse, change{was, w})
		case was.CategoryCertain && w.FailureCategory > was.FailureCategory:
			f.lessHard++
		}
	}
	slices.SortStableFunc(f.worse, func(a, b change) int { return cmp.Compare(a.after.FailureCategory, b.after.FailureCategory) })
}

// worstZone returns the zone whose failure takes most pods of a workload, and the number of its pods.
func worstZone(w *plan.WorkloadState) (zone string, lost, total int) {
	for z, n := range w.Zones {
		if total += n; z != "" && (n > lost || n == lost && z > zone) {
			zone, lost = z, n
		}
	}
	return zone, lost, total
}

// mainCause returns the reason why most pods stay, with their number: of the reasons for unmet goals, else of those
// that a person can change, else of all. It returns "" if the plan names none.
func mainCause(p *plan.Plan) (cause plan.Code, pods int) {
	goals, _ := GoalsByCause(&p.Bound)
	rank := func(c plan.Code) int {
		switch {
		case len(goals[c]) > 0:
			return 2
		case c.Remedy() != "":
			return 1
		}
		return 0
	}
	for c, n := range p.Rejections.Counts {
		if c == plan.NotNeeded {
			continue
		}
		order := cmp.Or(cmp.Compare(rank(c), rank(cause)), cmp.Compare(n, pods), cmp.Compare(cause, c))
		if cause == "" || order > 0 {
			cause, pods = c, n
		}
	}
	return cause, pods
}
