package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// writeInputs lists the sources with problems. The wide form lists all sources.
func (t *table) writeInputs(p plan.Plan) {
	g := newGrid("SOURCE", ">AGE", ">NODES COVERED", "PROBLEMS")
	for _, in := range p.Inputs {
		if len(in.Problems) == 0 && !t.wide {
			continue
		}
		problems := cmp.Or(escape(strings.Join(in.Problems, "; ")), "none")
		source := escape(in.Source)
		if in.Statistic != "" {
			source += " (" + escape(in.Statistic) + ")"
		}
		g.addRow(source, orDash(escape(in.Age)), percent(in.Coverage), problems)
	}
	title := "Inputs with problems (missing data counts as unknown and causes no moves)"
	if t.wide {
		title = "Inputs"
	}
	t.addSection(title, g, maxLines)
}

// writeSchedulers writes how many bindings of each scheduler without a profile were predicted correctly.
func (t *table) writeSchedulers(p plan.Plan) {
	g := newGrid("SCHEDULER", ">PODS", ">BINDINGS SEEN", ">PREDICTED", ">CORRECT", ">HIT RATE", "ITS PODS")
	for _, s := range p.Schedulers {
		rate, pods := "-", "stay"
		if s.HitRate != nil {
			rate = percent(*s.HitRate)
		}
		if s.Trusted {
			pods = "may move"
		}
		g.addRow(escape(s.Name), strconv.Itoa(s.Pods), strconv.Itoa(s.Seen), strconv.Itoa(s.Predicted), strconv.Itoa(s.Hits), rate, pods)
	}
	t.addSection("Schedulers without a profile (placement.trust sets how many correct predictions they need)", g, maxLines)
}
