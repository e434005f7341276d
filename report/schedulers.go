package report

import (
	"strconv"

	"github.com/evenkeel-project/evenkeel/plan"
)

// schedulers writes how well each scheduler without a profile was foretold.
func (t *table) schedulers(p plan.Plan) {
	g := columns("SCHEDULER", ">PODS", ">BINDINGS SEEN", ">FORETOLD", ">CAME TRUE", ">HIT RATE", "ITS PODS")
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
	t.section("Schedulers without a profile (placement.trust says how many bindings must come true)", g, maxLines)
}
