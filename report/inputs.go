package report

import (
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// inputs lists the sources with problems. The wide form lists all sources.
func (t *table) inputs(p plan.Plan) {
	g := columns("SOURCE", ">AGE", ">NODES COVERED", "PROBLEMS")
	for _, in := range p.Inputs {
		if len(in.Problems) == 0 && !t.wide {
			continue
		}
		problems := "none"
		if len(in.Problems) > 0 {
			problems = safe(strings.Join(in.Problems, "; "))
		}
		source := safe(in.Source)
		if in.Statistic != "" {
			source += " (" + safe(in.Statistic) + ")"
		}
		g.row(source, orDash(safe(in.Age)), percent(in.Coverage), problems)
	}
	title := "Inputs with problems (missing data counts as unknown and causes no moves)"
	if t.wide {
		title = "Inputs"
	}
	t.section(title, g, maxLines)
}

// schedulers writes how many bindings of each scheduler without a profile were
// predicted correctly.
func (t *table) schedulers(p plan.Plan) {
	g := columns("SCHEDULER", ">PODS", ">BINDINGS SEEN", ">PREDICTED", ">CORRECT", ">HIT RATE", "ITS PODS")
	for _, s := range p.Schedulers {
		rate, pods := "-", "stay"
		if s.HitRate != nil {
			rate = percent(*s.HitRate)
		}
		if s.Trusted {
			pods = "may move"
		}
		g.row(safe(s.Name), strconv.Itoa(s.Pods), strconv.Itoa(s.Seen), strconv.Itoa(s.Predicted), strconv.Itoa(s.Hits), rate, pods)
	}
	t.section("Schedulers without a profile (placement.trust sets how many correct predictions they need)", g, maxLines)
}
