package report

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// WaitingPlan writes a plan that waits for approval since a time, with the state of each step.
func WaitingPlan(w io.Writer, p plan.Plan, since time.Time, state func(step int) string) error {
	fmt.Fprintf(w, "Plan %s, since %s, until %s:\n", Escape(p.ID), since.UTC().Format(time.RFC3339), p.Expires.UTC().Format(time.RFC3339))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  STEP\tSTRATEGY\tPOD\tFROM\tTO\tSTATE\tWHY")
	for _, m := range p.Moves {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", strconv.Itoa(m.Step), Escape(m.Strategy), Escape(m.Pod.String()),
			Escape(m.From), destinationText(m), Escape(state(m.Step)), Escape(m.Reason.Message))
	}
	return t.Flush()
}
