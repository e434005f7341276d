package report

import (
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

// holds says, under the verdict, what keeps the plan from being carried out, and
// which strategies are not planned for.
func (t *table) holds(holds []plan.EvictionBlock) {
	for _, h := range holds {
		text := "Nothing is evicted now: "
		if h.Strategy != "" {
			text = "Strategy " + safe(h.Strategy) + " is held: "
		}
		t.line("%s", t.paint(yellow, text+reasonText(h.Reason)+"."))
	}
}

// held names what keeps every eviction from being made; "" where nothing does.
func held(p plan.Plan) string {
	var codes []string
	for _, h := range p.Blocks {
		if h.Strategy == "" {
			codes = append(codes, safe(string(h.Reason.Code)))
		}
	}
	return strings.Join(codes, ", ")
}
