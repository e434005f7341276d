package drills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
)

// drillResult is the result of one drill.
type drillResult struct {
	Name       string
	Seed       uint64
	Reps       int
	Processes  int
	Requested  int
	Evictions  int
	Reports    int
	Seconds    int
	Violations map[auditverifier.Kind]int
	Notes      map[string]int
}

func (r drillResult) failed() bool { return len(r.Violations) > 0 }

// readResults returns the saved results of drills that passed. Run repeats failed drills.
func readResults(path string) ([]drillResult, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var rows []drillResult
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("reading earlier results: %w", err)
	}
	return slices.DeleteFunc(rows, drillResult.failed), nil
}

func writeResults(path string, rows []drillResult) error {
	if path == "" {
		return nil
	}
	b, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// writeTable writes one line per drill with the number of violations of each kind.
func writeTable(out io.Writer, rows []drillResult) {
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
	if slices.ContainsFunc(rows, drillResult.failed) {
		fmt.Fprintln(out, "FAILED: there are violations; each is printed above with its time and process.")
	}
}
