package ui

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// running is a pass in progress.
type running struct {
	Name, Strong, Pause   string
	Waves                 []runWave
	Predicted, Elsewhere  int
	Unready, Stayed, Left int
	Large                 bool // one bar for each wave instead of one square for each step
}

type runWave struct {
	Number  int
	Now     bool
	Squares []square
	Says    string
	// Done is the share of the steps with an outcome, for the bar of a large pass.
	Done  string
	Width int
}

// square is one step. Kind is predicted, elsewhere, unready, stayed or left.
type square struct {
	Kind string
	X    int
}

const (
	// maxSquares is the number of steps above which a wave is a bar.
	maxSquares  = 60
	squareWidth = 18
)

// stepKind says what became of a step.
func stepKind(x *v1alpha1.StepStatus) string {
	switch {
	case x == nil:
		return "left"
	case x.State == v1alpha1.StepApproved || x.State == v1alpha1.StepWouldEvict:
		return "left"
	case x.State == v1alpha1.StepEvicted && x.AsPredicted:
		return "predicted"
	case x.State == v1alpha1.StepEvicted && x.Landed != "":
		return "elsewhere"
	case x.State == v1alpha1.StepEvicted && x.Reason == nil, x.State == v1alpha1.StepInProgress, x.State == v1alpha1.StepUnknown:
		return "unready"
	case x.State == v1alpha1.StepEvicted:
		return "elsewhere"
	}
	return "stayed"
}

// executedMoves returns the moves that a pass executes: of a plan that waits for decisions, the approved ones.
func executedMoves(o *v1alpha1.RebalancePlan) []v1alpha1.Move {
	if o.Spec.Mode != v1alpha1.ModeApprove && !o.Status.Foreign {
		return o.Spec.Moves
	}
	steps := stepsOf(o)
	return slices.DeleteFunc(slices.Clone(o.Spec.Moves), func(m v1alpha1.Move) bool {
		x := steps[m.Step]
		return x == nil || x.State == v1alpha1.StepDiscarded || x.State == v1alpha1.StepReplaced
	})
}

// waveNow returns the number of the first wave with a step without an outcome.
func waveNow(o *v1alpha1.RebalancePlan) int {
	steps := stepsOf(o)
	for _, m := range executedMoves(o) {
		if k := stepKind(steps[m.Step]); k == "left" || k == "unready" {
			return int(m.Wave)
		}
	}
	return 0
}

func stepsOf(o *v1alpha1.RebalancePlan) map[int32]*v1alpha1.StepStatus {
	out := map[int32]*v1alpha1.StepStatus{}
	for i := range o.Status.Steps {
		out[o.Status.Steps[i].Step] = &o.Status.Steps[i]
	}
	return out
}

// newRunning returns the pass in progress, or nil.
func newRunning(q *request, o *v1alpha1.RebalancePlan) *running {
	if o == nil {
		return nil
	}
	moves := executedMoves(o)
	r := &running{Name: o.Name, Large: len(moves) > maxSquares}
	steps, done, now := stepsOf(o), 0, waveNow(o)
	for _, m := range moves {
		if len(r.Waves) == 0 || r.Waves[len(r.Waves)-1].Number != int(m.Wave) {
			r.Waves = append(r.Waves, runWave{Number: int(m.Wave), Now: int(m.Wave) == now})
		}
		w, kind := &r.Waves[len(r.Waves)-1], stepKind(steps[m.Step])
		w.Squares = append(w.Squares, square{kind, len(w.Squares) * squareWidth})
		for k, n := range map[string]*int{"predicted": &r.Predicted, "elsewhere": &r.Elsewhere, "unready": &r.Unready, "stayed": &r.Stayed, "left": &r.Left} {
			if k == kind {
				*n++
			}
		}
		if kind != "left" {
			done++
		}
	}
	for i := range r.Waves {
		w := &r.Waves[i]
		w.finish()
	}
	of := ""
	if n := len(r.Waves); n > 0 {
		of = fmt.Sprintf("wave %d of %d, ", max(1, slices.IndexFunc(r.Waves, func(w runWave) bool { return w.Now })+1), n)
	}
	since := ""
	if o.Status.Started != nil {
		since = " since " + q.clockTime(o.Status.Started.Time)
	}
	r.Strong = fmt.Sprintf("%s%s: %s%s begun.", o.Spec.StrategyNames, since, of, fmt.Sprintf("%d of %s", done, plural.Count(len(moves), "step")))
	return r
}

// finish counts the steps of a wave.
func (w *runWave) finish() {
	counts := map[string]int{}
	for _, s := range w.Squares {
		counts[s.Kind]++
	}
	w.Width = len(w.Squares)*squareWidth - (squareWidth - 12)
	w.Done = fmt.Sprintf("%d%%", 100*(len(w.Squares)-counts["left"])/len(w.Squares))
	for _, k := range []struct{ kind, words string }{{"predicted", "as predicted"}, {"elsewhere", "elsewhere"}, {"unready", "not ready yet"}, {"stayed", "not moved"},
		{"left", "remain"}} {
		if n := counts[k.kind]; n > 0 {
			if w.Says != "" {
				w.Says += ", "
			}
			w.Says += fmt.Sprintf("%d %s", n, k.words)
		}
	}
}
