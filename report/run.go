package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// runTable writes run reports.
type runTable struct{ *table }

// run writes what a pass did, and then its plan.
func (t runTable) run(r plan.RunReport) {
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
		t.line("%s", t.paint(yellow,
			fmt.Sprintf("Recovered: %s started this run and may have reported it too, as run %s; these are the same evictions.",
				orDash(safe(a.Holder)), orDash(safe(r.RunID)))))
	}
	for _, in := range r.Inputs {
		t.line("%s", t.paint(yellow, fmt.Sprintf("Changed files (%s, for %s): %s",
			safe(in.Source), orDash(safe(in.Age)), safe(strings.Join(in.Problems, "; ")))))
	}
	if r.EndedBeforePlanning() {
		return
	}
	if r.Approval != nil && !t.wide && countOutcomes(r, plan.Evicted)+countOutcomes(r, plan.UnknownOutcome) == 0 {
		t.notExecuted(r)
		return
	}
	t.outcomes(r)
	t.line("")
	t.plan(r.Plan, "Plan", "")
	if r.Replan != nil {
		t.line("")
		t.plan(*r.Replan, "Replan, because a move failed or a replacement landed elsewhere", "")
	}
}

func countOutcomes(r plan.RunReport, kind plan.OutcomeKind) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Outcome == kind {
			n++
		}
	}
	return n
}

// notExecuted lists, step by step, why no move of an approved plan was executed. The
// plan itself is left out: the person who approved it has it.
func (t runTable) notExecuted(r plan.RunReport) {
	g := columns(">STEP", "POD", "OUTCOME", "WHY")
	for _, o := range r.Outcomes {
		g.row(strconv.Itoa(o.Step), safe(o.Pod.String()), outcomeText(o.Outcome), orDash(reasonText(o.Reason)))
	}
	t.section("No move of the plan was executed (-o wide shows the plan)", g, 0)
}

func modeText(m plan.Mode) string {
	if m == plan.DryRun {
		return "dry run (nothing is evicted)"
	}
	return safe(string(m))
}

// runVerdict writes the first line: the number of moves by outcome.
func (t runTable) runVerdict(r plan.RunReport) {
	if r.EndedBeforePlanning() {
		t.line("%s", t.paint(yellow, "Run: refused; nothing planned, nothing evicted."))
		return
	}
	byOutcome := map[plan.OutcomeKind]int{}
	for _, o := range r.Outcomes {
		byOutcome[o.Outcome]++
	}
	planned := len(r.Moves())
	switch {
	case r.Mode == plan.DryRun && planned > 0:
		unless, color := "", green
		if codes := blockingCodes(r.Plan); codes != "" {
			unless, color = " if evictions were not blocked ("+codes+")", yellow
		}
		t.line("%s", t.paint(color, fmt.Sprintf("Run: %d of %s would be evicted%s; dry run: nothing is evicted.",
			byOutcome[plan.WouldEvict], count(planned, "planned pod"), unless)))
	case planned == 0:
		text, color := openText(r.Plan)
		t.line("%s", t.paint(color, "Run: nothing evicted; the plan has no moves"+text+"."))
	default:
		t.evictedVerdict(r, byOutcome, planned)
	}
}

// evictedVerdict writes the first line of a live run that planned moves.
func (t runTable) evictedVerdict(r plan.RunReport, byOutcome map[plan.OutcomeKind]int, planned int) {
	predicted, elsewhere, notObserved := 0, 0, 0
	for _, o := range r.Outcomes {
		switch {
		case o.Outcome != plan.Evicted:
		case o.Landed == "":
			notObserved++
		case o.LandedAsPredicted:
			predicted++
		default:
			elsewhere++
		}
	}
	color := green
	if byOutcome[plan.Evicted] != planned || elsewhere+notObserved > 0 {
		color = yellow
	}
	text := fmt.Sprintf("Run: %s%d of %s evicted", blockedText(r), byOutcome[plan.Evicted], count(planned, "planned pod"))
	if byOutcome[plan.Evicted] > 0 {
		text += fmt.Sprintf("; %s landed as predicted, %d elsewhere, %d not observed", count(predicted, "replacement"), elsewhere, notObserved)
	}
	for _, k := range []plan.OutcomeKind{plan.Blocked, plan.AlreadyGone, plan.UnknownOutcome, plan.Dropped} {
		if byOutcome[k] > 0 {
			text += fmt.Sprintf("; %d %s", byOutcome[k], outcomeText(k))
		}
	}
	t.line("%s", t.paint(color, text+"."))
}

// openText lists what stays open although the plan has no moves: unmet goals,
// waiting nodes and missing data.
func openText(p plan.Plan) (text, color string) {
	color = green
	met, _ := countReached(p)
	if open := len(p.Goals) - met; open > 0 {
		verb := "stay"
		if open == 1 {
			verb = "stays"
		}
		text, color = fmt.Sprintf("; %s %s unmet", count(open, "goal"), verb), yellow
	}
	if more := waitingText(p.Strategies); more != "" {
		text, color = text+"; waiting: "+more, yellow
	}
	if more := noDataText(p, true); more != "" {
		text, color = text+"; "+more, yellow
	}
	return text, color
}

// blockedText starts the first line of a run in which a pause or the breaker
// prevented every eviction.
func blockedText(r plan.RunReport) string {
	if r.Stopped == nil || countOutcomes(r, plan.Evicted) > 0 || r.Stopped.Code != plan.Paused && r.Stopped.Code != plan.BreakerOpen {
		return ""
	}
	return "evictions are blocked (" + string(r.Stopped.Code) + "); "
}

func (t runTable) outcomes(r plan.RunReport) {
	g := columns(">STEP", "POD", "OUTCOME", "REPLACEMENT", "LANDED ON", "AS PREDICTED", ">READY AFTER", "NOTE")
	for _, o := range r.Outcomes {
		replacement, predicted := "-", "-"
		if o.Replacement != nil {
			replacement = safe(o.Replacement.Name)
		}
		if o.Landed != "" {
			predicted = "no"
			if o.LandedAsPredicted {
				predicted = "yes"
			}
		}
		g.row(strconv.Itoa(o.Step), safe(o.Pod.String()), outcomeText(o.Outcome), replacement, orDash(safe(o.Landed)), predicted,
			orDash(safe(o.ReadyAfter)), orDash(reasonText(o.Reason)))
	}
	t.section("Outcome of each move", g, 0)
}
