package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// WaitingPlan writes a plan that waits for approval since a time, with the state of each step.
func WaitingPlan(w io.Writer, p plan.Plan, since time.Time, state func(step int) string) error {
	fmt.Fprintf(w, "Plan %s, since %s, until %s:\n", escape(p.ID), since.UTC().Format(time.RFC3339), p.Expires.UTC().Format(time.RFC3339))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  STEP\tSTRATEGY\tPOD\tFROM\tTO\tSTATE\tWHY")
	for _, m := range p.Moves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", strconv.Itoa(m.Step), escape(m.Strategy), escape(m.Pod.String()),
			escape(m.From), destinationText(m), escape(state(m.Step)), escape(m.Reason.Message))
	}
	return t.Flush()
}

// DiscardedMoves writes the moves that a person discarded and that are not proposed again yet. It writes nothing if
// there are none.
func DiscardedMoves(w io.Writer, moves []plan.DiscardedMove) error {
	if len(moves) == 0 {
		return nil
	}
	fmt.Fprintln(w, "Discarded moves, which their strategies do not propose again yet (evenkeel discard --undo PLAN):")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  STRATEGY\tPOD\tPLAN\tSTEP\tDISCARDED\tUNTIL")
	for _, d := range moves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%d\tby %s at %s\t%s\n", escape(d.Strategy), escape(cmp.Or(d.Pod, d.PodUID)), orDash(escape(d.Plan)), d.Step,
			orDash(escape(d.By)), d.At.UTC().Format(time.RFC3339), d.Until.UTC().Format(time.RFC3339))
	}
	return t.Flush()
}
