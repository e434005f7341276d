package drills

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
)

// writeTable writes one line per drill with the number of violations of each kind.
func writeTable(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	kinds := make([]string, len(auditverifier.Kinds))
	for i, k := range auditverifier.Kinds {
		kinds[i] = string(k)
	}
	fmt.Fprintf(w, "DRILL\tREPS\tPROCESSES\tREQUESTED\tEVICTIONS\tREPORTS\tSECONDS\t%s\t\n", strings.ToUpper(strings.Join(kinds, "\t")))
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t", r.Name, r.Reps, r.Processes, r.Requested, r.Evictions, r.Reports, r.Seconds)
		for _, k := range auditverifier.Kinds {
			fmt.Fprintf(w, "%d\t", r.Violations[k])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Fprintln(out)
	for _, r := range rows {
		for _, k := range slices.Sorted(maps.Keys(r.Notes)) {
			fmt.Fprintf(out, "%s: %s: %d\n", r.Name, k, r.Notes[k])
		}
	}
	if slices.ContainsFunc(rows, row.failed) {
		fmt.Fprintln(out, "FAILED: there are violations; each is printed above with its time and process.")
	}
}
