package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// run writes what a pass did, then the plan that it followed.
func (t *table) run(r plan.RunReport) {
	t.runVerdict(r)
	if r.Stopped != nil {
		t.line("%s", t.paint(yellow, "Stopped early: "+reasonText(*r.Stopped)+"."))
	}
	t.line("Run %s, %s, started %s, took %s.", orDash(safe(r.RunID)), modeText(r.Mode),
		r.Started.UTC().Format(timeLayout), r.Finished.Sub(r.Started).Round(time.Millisecond))
	if a := r.Approval; a != nil {
		t.line("Approved by %s at %s.", orDash(safe(a.By)), a.At.UTC().Format(timeLayout))
	}
	if a := r.Recovery; a != nil {
		t.line("%s", t.paint(yellow, fmt.Sprintf("Recovered: %s made this run and may have reported it too, as run %s; these are the same evictions.", orDash(safe(a.Holder)), orDash(safe(r.RunID)))))
	}
	for _, in := range r.Inputs {
		t.line("%s", t.paint(yellow, fmt.Sprintf("Changed files (%s, for %s): %s", safe(in.Source), orDash(safe(in.Age)), safe(strings.Join(in.Problems, "; ")))))
	}
	if r.EndedBeforePlanning() {
		return
	}
	if r.Approval != nil && !t.wide && countOf(r, plan.Evicted)+countOf(r, plan.UnknownOutcome) == 0 {
		t.untouched(r)
		return
	}
	t.outcomes(r)
	t.line("")
	t.plan(r.Plan, "Plan", "")
	if r.Replan != nil {
		t.line("")
		t.plan(*r.Replan, "Planned again, since not all came as planned", "")
	}
}

func countOf(r plan.RunReport, kind plan.OutcomeKind) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Outcome == kind {
			n++
		}
	}
	return n
}

// untouched says of an approved plan of which nothing was carried out why, step by
// step: whoever approved it has the plan, and nothing landed.
func (t *table) untouched(r plan.RunReport) {
	g := columns(">STEP", "POD", "OUTCOME", "WHY")
	for _, o := range r.Outcomes {
		g.row(strconv.Itoa(o.Step), safe(o.Pod.String()), outcomeText(o.Outcome), orDash(reasonText(o.Reason)))
	}
	t.section("Nothing of the plan was carried out (-o wide shows it)", g, 0)
}

func modeText(m plan.Mode) string {
	if m == plan.DryRun {
		return "dry run (nothing is evicted)"
	}
	return safe(string(m))
}

// runVerdict counts what happened; it never reads better than the outcomes.
func (t *table) runVerdict(r plan.RunReport) {
	if r.EndedBeforePlanning() {
		t.line("%s", t.paint(yellow, "Run: refused; nothing planned, nothing evicted."))
		return
	}
	by := map[plan.OutcomeKind]int{}
	foretold, elsewhere, open := 0, 0, 0
	for _, o := range r.Outcomes {
		by[o.Outcome]++
		switch {
		case o.Outcome != plan.Evicted:
		case o.Landed == "":
			open++
		case o.LandedAsPredicted:
			foretold++
		default:
			elsewhere++
		}
	}
	planned := len(r.Moves())
	if r.Mode == plan.DryRun && planned > 0 {
		unless, color := "", green
		if codes := held(r.Plan); codes != "" {
			unless, color = ", were it not held ("+codes+")", yellow
		}
		t.line("%s", t.paint(color, fmt.Sprintf("Run: %d of %s would be evicted%s; nothing is evicted (dry run).",
			by[plan.WouldEvict], count(planned, "planned pod"), unless)))
		return
	}
	if planned == 0 {
		text, color := stillOpen(r.Plan)
		t.line("%s", t.paint(color, "Run: nothing evicted; the plan has no moves"+text+"."))
		return
	}
	color := green
	if by[plan.Evicted] != planned || elsewhere+open > 0 {
		color = yellow
	}
	text := fmt.Sprintf("Run: %s%d of %s evicted", holding(r), by[plan.Evicted], count(planned, "planned pod"))
	if by[plan.Evicted] > 0 {
		text += fmt.Sprintf("; %s landed as foretold, %d elsewhere, %d not seen to land", count(foretold, "replacement"), elsewhere, open)
	}
	for _, k := range []plan.OutcomeKind{plan.Blocked, plan.AlreadyGone, plan.UnknownOutcome, plan.Dropped} {
		if by[k] > 0 {
			text += fmt.Sprintf("; %d %s", by[k], outcomeText(k))
		}
	}
	t.line("%s", t.paint(color, text+"."))
}

// stillOpen says, where nothing is planned, why that does not mean that all is well.
func stillOpen(p plan.Plan) (text, color string) {
	color = green
	met, _ := reached(p)
	if open := len(p.Goals) - met; open > 0 {
		text, color = fmt.Sprintf("; %s stay%s unmet", count(open, "goal"), map[bool]string{true: "s"}[open == 1]), yellow
	}
	if more := waiting(p.Strategies); more != "" {
		text, color = text+"; not asked for yet: "+more, yellow
	}
	if more := unknown(p, true); more != "" {
		text, color = text+"; "+more, yellow
	}
	return text, color
}

// holding begins the verdict of a run that never began to evict, because it was held.
func holding(r plan.RunReport) string {
	if r.Stopped == nil || countOf(r, plan.Evicted) > 0 || r.Stopped.Code != plan.Paused && r.Stopped.Code != plan.BreakerOpen {
		return ""
	}
	return "held (" + string(r.Stopped.Code) + "); "
}

func (t *table) outcomes(r plan.RunReport) {
	g := columns(">STEP", "POD", "OUTCOME", "REPLACEMENT", "LANDED ON", "AS FORETOLD", ">READY AFTER", "NOTE")
	for _, o := range r.Outcomes {
		replacement, foretold := "-", "-"
		if o.Replacement != nil {
			replacement = safe(o.Replacement.Name)
		}
		if o.Landed != "" {
			foretold = "no"
			if o.LandedAsPredicted {
				foretold = "yes"
			}
		}
		g.row(strconv.Itoa(o.Step), safe(o.Pod.String()), outcomeText(o.Outcome), replacement, orDash(safe(o.Landed)), foretold,
			orDash(safe(o.ReadyAfter)), orDash(reasonText(o.Reason)))
	}
	t.section("What became of each move", g, 0)
}
