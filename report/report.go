// Package report writes plans, run reports and explanations for people and for programs.
//
// It decides which lines a table shows, how they are worded, how numbers are rounded, and how unsafe characters are
// escaped. It never computes a prediction and never reads a clock or a terminal. The JSON and YAML forms of plans and
// passes are Kubernetes objects; those of other documents contain every field, in the order of the Go types.
package report

import (
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Plan writes p to w. It uses at most the first element of opts. It returns an error if the format is unknown or w
// fails. The JSON and YAML forms are a RebalancePlan, or a List of them if strategies are in several modes.
func Plan(w io.Writer, format Format, p plan.Plan, opts ...Options) error {
	var doc any
	v := view.View{Plan: p, Context: contextOf(opts)}
	if format == HTML {
		return html.Write(w, &v, answers.Of(&v))
	}
	if format == JSON || format == YAML {
		doc = planDocument(record.PlanObjects(&p), opts)
	}
	return writeDocument(w, format, doc, opts, planRows(&v, len(opts) > 0 && opts[0].Evicts))
}

// planRows returns what adds a plan to a table. evicts reports that a pass with its configuration evicts.
func planRows(v *view.View, evicts bool) func(*table) {
	return func(t *table) {
		of := planTable{out: t, dryRun: !evicts}
		of.writePlan(v, evictionEffectText(*v.Plan.Whole(), evicts))
	}
}

// Run writes r to w in the same way as Plan. The JSON form is one line, so a stream of passes is a stream of lines. The
// YAML form starts a new YAML document.
func Run(w io.Writer, format Format, r plan.RunReport, opts ...Options) error {
	var doc any
	v := view.View{Plan: r.Plan, Context: contextOf(opts), Run: view.RunOf(&r)}
	switch format {
	case HTML:
		if v.Targets == nil {
			v.Targets = view.TargetsOf(r.Plan.Goals)
		}
		return html.Write(w, &v, answers.Of(&v))
	case JSON:
		return writeJSON(w, planDocument(record.PassObjects(&r, len(opts) > 0 && opts[0].All), opts), "")
	case YAML:
		if err := writeBytes(w, []byte("---\n")); err != nil {
			return err
		}
		doc = planDocument(record.PassObjects(&r, false), opts)
	}
	return writeDocument(w, format, doc, opts, runRows(r, &v))
}

// runRows returns what adds a run to a table.
func runRows(r plan.RunReport, v *view.View) func(*table) {
	return func(t *table) {
		t.listed = outcomeRank
		run := runTable{out: t, plan: planTable{out: t, ended: true, dryRun: r.Mode == plan.DryRun}}
		run.writeRun(r, v)
	}
}

// planDocument returns one plan as it is, and several as a list, which kubectl can create.
func planDocument(plans []v1alpha1.RebalancePlan, opts []Options) any {
	for i := range plans {
		if len(opts) > 0 {
			plans[i].Namespace = opts[0].Namespace
		}
	}
	if len(plans) == 1 {
		return plans[0]
	}
	return struct {
		metav1.TypeMeta `json:",inline"`
		Items           []v1alpha1.RebalancePlan `json:"items"`
	}{metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, plans}
}

// Explain writes e to w in the same way as Plan. The wide form shows every rule and every node, and the full
// explanation of each pod of a node or workload.
func Explain(w io.Writer, format Format, e plan.Explanation, opts ...Options) error {
	if format == HTML {
		return html.WriteDocument(w, explanationDocument(e))
	}
	return writeDocument(w, format, e, opts, func(t *table) { explainTable{out: t}.writeExplanation(e) })
}

// writeDocument writes doc as JSON or YAML, or what fill adds to a table as text or HTML.
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
	case HTML:
		t := newTable(Wide, nil)
		fill(t)
		return html.WriteDocument(w, tableDocument(t))
	case Markdown:
		t := newTable(Wide, nil)
		fill(t)
		return writeMarkdown(w, &t.page)
	}
	_, err := ParseFormat(string(format))
	return err
}

// Format names an output format.
type Format string

const (
	Table Format = "table" // for people, on a terminal at most 60 lines: the verdict, the changes, and why nothing more changes
	Wide  Format = "wide"  // Table with every line and every column, as wide as it takes
	JSON  Format = "json"  // the document itself: indented for a plan, one line for a run
	YAML  Format = "yaml"  // the same document with the same field order
	HTML  Format = "html"  // one file for a browser, which makes no network request
	// Markdown is Wide for pull requests and chat, in at most 60 kB.
	Markdown Format = "markdown"
)

// Formats lists the formats in the order in which help texts name them.
func Formats() []Format { return []Format{Table, Wide, JSON, YAML, HTML, Markdown} }

// ParseFormat returns the format with that name. The error for an unknown name lists all formats.
func ParseFormat(name string) (Format, error) {
	var known []string
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
		known = append(known, string(f))
	}
	return "", fmt.Errorf("%q is not an output format (want one of %s)", name, strings.Join(known, ", "))
}

// Options are the settings that the caller passes.
type Options struct {
	// Color adds terminal colours to Table and Wide. The caller checks the terminal and NO_COLOR.
	Color bool
	// Width is the number of columns of the terminal that shows a Table, or 0 if none does. Wide ignores it.
	Width int
	// Namespace is that of the release in the JSON and YAML forms of plans, or "".
	Namespace string
	// NoHeaders makes Table and Wide a list of the moves, or of what became of them: one line each, without headings
	// and other text.
	NoHeaders bool
	// All leaves out nothing of a pass in JSON, which then may be too large for the API server.
	All bool
	// Evicts reports that `evenkeel run` evicts with the configuration of this plan. The reported
	// command did not evict.
	Evicts bool
	// Context is what the forms for people show of a plan or run besides the plan; nil if nothing is known.
	Context *view.Context
}

func contextOf(opts []Options) view.Context {
	switch {
	case len(opts) == 0:
		return view.Context{}
	case opts[0].Context == nil:
		return view.Context{Evicts: opts[0].Evicts}
	}
	return *opts[0].Context
}
