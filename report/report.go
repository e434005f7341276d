package report

import (
	"io"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Plan writes p to w. It uses at most the first element of opts. It returns an
// error if the format is unknown or w fails.
func Plan(w io.Writer, format Format, p plan.Plan, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := newTable(format, opts)
		t.plan(withoutNil(p), "Plan", evictionEffect(p, opts))
		return t.flush(w)
	case JSON:
		return writeJSON(w, withoutNil(p), "  ")
	case YAML:
		return writeYAML(w, withoutNil(p))
	}
	_, err := ParseFormat(string(format))
	return err
}

// Run writes r to w under the same rules as Plan. The JSON form is one line, so
// a stream of passes is a stream of lines.
func Run(w io.Writer, format Format, r plan.RunReport, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := runTable{newTable(format, opts)}
		t.run(runWithoutNil(r))
		return t.flush(w)
	case JSON:
		return RunLine(w, r)
	case YAML: // each pass begins a new YAML document
		if err := write(w, []byte("---\n")); err != nil {
			return err
		}
		return writeYAML(w, runWithoutNil(r))
	}
	_, err := ParseFormat(string(format))
	return err
}

// RunLine writes r to w as one line of JSON that ends in a newline.
func RunLine(w io.Writer, r plan.RunReport) error {
	return writeJSON(w, runWithoutNil(r), "")
}

// Explain writes e to w under the same rules as Plan. Wide shows every rule and
// every node, and the full explanation of each pod of a node or workload.
func Explain(w io.Writer, format Format, e plan.Explanation, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := explainTable{newTable(format, opts)}
		t.explain(e)
		return t.flush(w)
	case JSON:
		return writeJSON(w, e, "  ")
	case YAML:
		return writeYAML(w, e)
	}
	_, err := ParseFormat(string(format))
	return err
}
