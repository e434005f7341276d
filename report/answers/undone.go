package answers

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// undone answers which goals stay unmet, the main cause, and what would change it.
func (f *facts) undone() (Answer, bool) {
	a := Answer{Question: "What stays undone?", Section: "undone", Link: "See all causes"}
	if f.judged.nothing() {
		return a, false
	}
	if r := f.results; r != nil && !f.running && !r.asPredicted() {
		a.Statement, a.Detail = Words("Unknown until the next plan."), Words("The plan predicted that "+plural.Choose(f.left, "1 goal stays", Count(f.left, "goal")+" stay")+" unmet.")
		if f.left == 0 {
			a.Detail = Words("The plan predicted that no goal stays unmet.")
		}
		return a, true
	}
	stay, pods := f.toEmpty-f.emptied, 0
	for c, n := range f.plan.Rejections.Counts {
		if c != plan.NotNeeded {
			pods += n
		}
	}
	cause, n := mainCause(f.plan)
	var detail []any
	switch {
	case f.left > 0:
		a.Statement = Words(Count(f.left, "goal") + " " + plural.Choose(f.left, "stays", "stay") + " unmet.")
		detail = append(detail, f.improves())
	case stay > 0:
		a.Statement = Words(Count(stay, "node") + " with few requests " + plural.Choose(stay, "keeps its pods", "keep their pods") + ".")
	case f.total == 0 && f.toEmpty == 0 && pods == 0: // the goals of some steps of a plan are unknown
		return a, false
	case pods == 0:
		a.Statement, a.Section, a.Link = Words("Nothing."), "", ""
		a.Detail = Words("Every goal is met, and no pod that could help was held back.")
		return a, true
	default:
		a.Statement = Words("No goal stays unmet.")
		detail = append(detail, fmt.Sprintf("%s that were considered %s. ", Count(pods, "pod"), plural.Choose(pods, "stays", "stay")))
	}
	if wait := f.judged.waits(); wait != "" && f.left > 0 {
		detail = append(detail, wait+" ")
	}
	if why := f.Plan.SearchLimitReached; why != "" {
		detail = append(detail, "The search ended early: "+why+". ")
	}
	if cause != "" {
		words := cause.Meaning()
		if words == "" {
			words = string(cause)
		}
		detail = append(detail, "Main cause, for "+Count(n, "pod")+": "+words+".")
		if remedy := cause.Remedy(); remedy != "" {
			detail = append(detail, " ", StrongOf("To change it:"), " "+remedy+".")
		}
	}
	a.Detail = Words(detail...)
	return a, true
}

// improves says what the moves do for the goals that stay unmet.
func (f *facts) improves() string {
	switch {
	case f.moves == 0:
		return ""
	case f.left == 1:
		return map[bool]string{true: "It improves. ", false: "It does not change. "}[f.better == 1]
	case f.better == 0:
		return "None of them changes. "
	}
	return fmt.Sprintf("%s of them %s. ", Number(f.better), plural.Choose(f.better, "improves", "improve"))
}
