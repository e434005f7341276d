// Package report writes plans, run reports and explanations for people and for programs.
//
// It decides which lines a table shows, how they are worded, how numbers are rounded, and how unsafe characters are
// escaped. It never computes a prediction and never reads a clock or a terminal. The JSON and YAML forms contain every
// field of the document, in the order of the Go types.
package report

import (
	"io"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Plan writes p to w. It uses at most the first element of opts. It returns an error if the format is unknown or w
// fails.
func Plan(w io.Writer, format Format, p plan.Plan, opts ...Options) error {
	p = withoutNil(p)
	return writeDocument(w, format, p, opts, func(t *table) { t.writePlan(p, "Plan", evictionEffectText(p, opts)) })
}

// Run writes r to w in the same way as Plan. The JSON form is one line, so a stream of passes is a stream of lines. The
// YAML form starts a new YAML document.
func Run(w io.Writer, format Format, r plan.RunReport, opts ...Options) error {
	r = runWithoutNil(r)
	switch format {
	case JSON:
		return writeJSON(w, r, "")
	case YAML:
		if err := writeBytes(w, []byte("---\n")); err != nil {
			return err
		}
	}
	return writeDocument(w, format, r, opts, func(t *table) { runTable{t}.writeRun(r) })
}

// Explain writes e to w in the same way as Plan. The wide form shows every rule and every node, and the full
// explanation of each pod of a node or workload.
func Explain(w io.Writer, format Format, e plan.Explanation, opts ...Options) error {
	return writeDocument(w, format, e, opts, func(t *table) { explainTable{t}.writeExplanation(e) })
}

// writeDocument writes doc as JSON or YAML, or the lines that fill adds to a table.
func writeDocument(w io.Writer, format Format, doc any, opts []Options, fill func(*table)) error {
	switch format {
	case Table, Wide:
		t := newTable(format, opts)
		fill(t)
		return t.flush(w)
	case JSON:
		return writeJSON(w, doc, "  ")
	case YAML:
		return writeYAML(w, doc)
	}
	_, err := ParseFormat(string(format))
	return err
}
