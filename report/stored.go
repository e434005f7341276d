package report

import (
	"io"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/html"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Stored writes a stored plan in the same way as Plan, and as Run if a process executed it. The JSON and YAML forms are
// the object.
func Stored(w io.Writer, format Format, o *v1alpha1.RebalancePlan, opts Options) error {
	switch format {
	case JSON, YAML:
		return writeDocument(w, format, o, nil, nil)
	case HTML:
		v := view.Stored(o)
		return html.Write(w, v, answers.Of(v))
	}
	r := record.Shown(o)
	if r.RunID != "" {
		return Run(w, format, r, opts)
	}
	return Plan(w, format, r.Plan, opts)
}
