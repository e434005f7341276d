package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// WaitingPlan writes a plan that waits for approval since a time, with the state of each step. It leaves out no step.
func WaitingPlan(w io.Writer, name string, p plan.Plan, since time.Time, foreign bool, state func(step int) string, o Options) error {
	g := layout.NewGrid("STEP", "STRATEGY", "*POD", "FROM", "TO", "STATE", "~WHY")
	for _, m := range p.Moves {
		g.Add(strconv.Itoa(m.Step), escape(m.Strategy), escape(m.Pod.String()), escape(m.From), destinationText(m),
			escape(state(m.Step)), escape(m.Reason.Message))
	}
	by := ""
	if foreign {
		by = ", not made by this release"
	}
	fmt.Fprintf(w, "Plan %s%s, since %s, until %s:\n", escape(name), by, since.UTC().Format(time.RFC3339), p.Expires.UTC().Format(time.RFC3339))
	return List(w, g, o)
}

// DiscardedMoves writes the moves that a person discarded and that are not proposed again yet. It writes nothing if
// there are none.
func DiscardedMoves(w io.Writer, moves []plan.DiscardedMove, o Options) error {
	if len(moves) == 0 {
		return nil
	}
	g := layout.NewGrid("STRATEGY", "*POD", "PLAN", "STEP", "~DISCARDED", "UNTIL")
	for _, d := range moves {
		g.Add(escape(d.Strategy), escape(cmp.Or(d.Pod, d.PodUID)), orDash(escape(d.Plan)), strconv.Itoa(d.Step),
			fmt.Sprintf("by %s at %s", orDash(escape(d.By)), d.At.UTC().Format(time.RFC3339)), d.Until.UTC().Format(time.RFC3339))
	}
	fmt.Fprintln(w, "Discarded moves, which their strategies do not propose again yet (evenkeel discard --undo PLAN):")
	return List(w, g, o)
}

// List writes a grid with all its rows, as wide as the terminal.
func List(w io.Writer, g *layout.Grid, o Options) error {
	width := o.Width
	if width > 0 {
		width = max(width, minWidth)
	}
	return writeBytes(w, []byte(strings.Join(g.Lines(width), "\n")+"\n"))
}
