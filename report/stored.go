package report

import (
	"io"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Stored writes the part of a stored plan that the filter selects in the same way as Plan, and as Run if a process
// executed it. The JSON and YAML forms are the object.
func Stored(w io.Writer, format Format, o *v1alpha1.RebalancePlan, f *plan.Filter, opts Options) error {
	v := view.Stored(o)
	v.Plan = f.Select(v.Plan)
	switch {
	case format == JSON || format == YAML:
		return writeDocument(w, format, record.Part(o, f), nil, nil)
	case format == HTML:
		return html.Write(w, v, answers.Of(v))
	case v.Run == nil:
		return writeDocument(w, format, nil, []Options{opts}, planRows(v, v.Evicts))
	}
	r := record.Shown(o)
	r.Plan = v.Plan
	return writeDocument(w, format, nil, []Options{opts}, runRows(r, v))
}
