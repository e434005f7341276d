package report

import "github.com/evenkeel-project/evenkeel/plan"

// holds says, under the verdict, what keeps the plan from being carried out, and
// which strategies are not planned for.
func (t *table) holds(p plan.Plan) {
	for _, h := range p.Holds {
		text := "Nothing is evicted now: "
		if h.Strategy != "" {
			text = "Strategy " + safe(h.Strategy) + " is held: "
		}
		t.line("%s", t.paint(yellow, text+reasonText(h.Reason)+"."))
	}
}
