package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/layout"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// runTable writes run reports.
type runTable struct {
	out  *table
	plan planTable
}

// writeRun writes what a pass did, and then its plan.
func (t *runTable) writeRun(r plan.RunReport, v *view.View) {
	if r.Waiting != nil && r.Waiting.Problem != nil {
		t.plan.notKept = r.Waiting.Problem.Code
	}
	style, text := t.verdict(r)
	t.out.writeAnswers(answers.Of(v), style, text+".")
	switch {
	case refused(r):
		t.out.addText(yellow, "Refused: "+reasonText(*r.Stopped)+".")
	case r.Stopped != nil && (!r.EndedBeforePlanning() || len(r.Plan.NothingJudged) == 0): // else the first line names it
		t.out.addText(yellow, "Stopped early: "+reasonText(*r.Stopped)+".")
	}
	end := "not ended"
	if !r.Finished.IsZero() {
		end = "took " + r.Finished.Sub(r.Started).Round(time.Millisecond).String()
	}
	t.addRunLine("Run %s, %s, started %s, %s.", orDash(escape(r.RunID)), modeText(r.Mode), r.Started.UTC().Format(timeLayout), end)
	if a := r.Approval; a != nil {
		verb := "Approved"
		if refused(r) {
			verb = "Submitted"
		}
		of, attempt := "", ""
		if a.WaitingPlan != "" {
			of = ", as steps of the waiting plan " + escape(a.WaitingPlan)
		}
		if a.Attempt > 1 {
			attempt = fmt.Sprintf(" Attempt %d: an earlier process took the plan and ended; its report, or the recovered run, contains its evictions.",
				a.Attempt)
		}
		t.addRunLine("%s by %s at %s%s.%s", verb, orDash(escape(a.By)), a.At.UTC().Format(timeLayout), of, attempt)
	}
	t.writeWaiting(r.Waiting)
	if a := r.Recovery; a != nil {
		t.out.addText(yellow, fmt.Sprintf("Recovered: %s started this run and may have reported it too, as run %s; these are the same evictions.",
			orDash(escape(a.Holder)), orDash(escape(r.RunID))))
	}
	for _, in := range r.Inputs {
		t.out.addText(yellow, fmt.Sprintf("Changed files (%s, for %s): %s",
			escape(in.Source), orDash(escape(in.Age)), escape(strings.Join(in.Problems, "; "))))
	}
	if r.EndedBeforePlanning() {
		return
	}
	if r.Approval != nil && !t.out.wide && countOutcomes(r, plan.Evicted, plan.UnknownOutcome, plan.InProgress) == 0 {
		t.writeNotExecuted(r)
		return
	}
	t.writeOutcomes(r)
	if r.Recovery != nil { // the ended process had the plan; the report of the current pass follows
		t.addRunLine("%s", "")
		return
	}
	t.out.addLine("")
	t.plan.writeVerdict(*r.Plan.Whole(), "Plan", "")
	t.out.writeBlocks(r.Plan.Blocks, r.Plan.TakenAt)
	t.plan.writeSections(r.Plan)
	if r.Replan != nil {
		t.out.addLine("")
		t.out.plan = secondPlan
		t.plan.writeVerdict(*r.Replan, "Replan, because a move failed or a replacement landed elsewhere", "")
		t.plan.writeSections(*r.Replan)
	}
}

// writeWaiting writes which plans wait for approval.
func (t *runTable) writeWaiting(w *plan.Waiting) {
	if w == nil {
		return
	}
	if w.Problem != nil {
		t.out.addText(yellow, "No new plan waits for approval: "+reasonText(*w.Problem)+".")
	}
	for _, p := range w.Plans {
		t.out.addText(yellow, fmt.Sprintf("Plan %s waits for approval until %s: %s (evenkeel approve %s).", escape(p.ID),
			p.Expires.UTC().Format(timeLayout), plural.Count(p.Steps(), "step"), escape(p.ID)))
	}
	t.writeDiscarded(w.Discarded)
}

// maxDiscardedNames bounds the discarded moves that a report names.
const maxDiscardedNames = 5

// writeDiscarded names the moves that a person discarded and that are not proposed again yet.
func (t *runTable) writeDiscarded(moves []plan.DiscardedMove) {
	if len(moves) == 0 {
		return
	}
	var names []string
	for _, d := range moves[:min(len(moves), maxDiscardedNames)] {
		names = append(names, fmt.Sprintf("%s of strategy %s, by %s, until %s", escape(cmp.Or(d.Pod, d.PodUID)), escape(d.Strategy),
			orDash(escape(d.By)), d.Until.UTC().Format(timeLayout)))
	}
	if more := len(moves) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	t.addRunLine("Discarded, and not proposed again yet: %s (to undo: evenkeel discard --undo PLAN).", strings.Join(names, "; "))
}

// refused reports whether a saved plan was refused as a whole.
func refused(r plan.RunReport) bool { return r.Stopped != nil && r.Stopped.Code == plan.PlanRefused }

func countOutcomes(r plan.RunReport, kinds ...plan.OutcomeKind) int {
	n := 0
	for _, o := range r.Outcomes {
		if slices.Contains(kinds, o.Outcome) {
			n++
		}
	}
	return n
}

// writeNotExecuted lists, step by step, why no move of an approved plan was executed. It omits the plan itself, because
// the person who approved the plan has a copy.
func (t *runTable) writeNotExecuted(r plan.RunReport) {
	g := layout.NewGrid(">STEP", "*POD", "OUTCOME", "~WHY")
	for _, o := range r.Outcomes {
		g.Add(strconv.Itoa(o.Step), escape(o.Pod.String()), outcomeText(o.Outcome), orDash(reasonText(o.Reason)))
	}
	t.out.addSection(outcomeRank, layout.Section{Title: "No move of the plan was executed (-o wide shows the plan)", ShortTitle: "No move of the plan was executed", Grid: g})
}

func modeText(m plan.Mode) string {
	if m == plan.DryRun {
		return "dry run (nothing is evicted)"
	}
	return escape(string(m))
}

// verdict counts the moves by outcome.
func (t *runTable) verdict(r plan.RunReport) (layout.Style, string) {
	if len(r.Plan.NothingJudged) > 0 {
		return red, nothingJudgedText(r.Plan, "Run", "nothing evicted")
	}
	if r.EndedBeforePlanning() {
		return yellow, "Run: refused; nothing planned, nothing evicted"
	}
	planned := len(r.Moves())
	switch {
	case refused(r):
		return yellow, "Run: the plan was refused; nothing evicted"
	case r.Mode == plan.DryRun && planned > 0:
		unless, color := "", green
		if codes := blockingCodes(r.Plan); codes != "" {
			unless, color = " if evictions were not blocked ("+codes+")", yellow
		}
		return color, fmt.Sprintf("Run: %d of %s would be evicted%s; dry run: nothing is evicted",
			countOutcomes(r, plan.WouldEvict), plural.Count(planned, "planned pod"), unless)
	case planned == 0:
		text, color := t.openGoalsText(r.Plan)
		return color, "Run: nothing evicted; the plan has no moves" + text
	}
	return evictedVerdict(r, planned)
}

// evictedVerdict is about a live run that planned moves.
func evictedVerdict(r plan.RunReport, planned int) (layout.Style, string) {
	evicted, predicted, elsewhere, notObserved, removed, pending := countOutcomes(r, plan.Evicted), 0, 0, 0, 0, 0
	for _, o := range r.Outcomes {
		switch {
		case o.Outcome != plan.Evicted:
		case o.Removed:
			removed++
		case o.Pending:
			pending++
		case o.Landed == "":
			notObserved++
		case o.LandedAsPredicted:
			predicted++
		default:
			elsewhere++
		}
	}
	color := green
	if evicted != planned || elsewhere+notObserved > 0 {
		color = yellow
	}
	text := fmt.Sprintf("Run: %s%d of %s evicted", blockedText(r), evicted, plural.Count(planned, "planned pod"))
	if evicted > removed+pending {
		text += fmt.Sprintf("; %s landed as predicted, %d elsewhere, %d not observed",
			plural.Count(predicted, "replacement"), elsewhere, notObserved)
	}
	if pending > 0 {
		text += fmt.Sprintf("; %s %s Pending, as landing: notRequired allows", plural.Count(pending, "replacement"), plural.Choose(pending, "is", "are"))
	}
	if removed > 0 {
		text += fmt.Sprintf("; %s that had ended %s gone", plural.Count(removed, "pod"), plural.Choose(removed, "is", "are"))
	}
	for _, k := range []plan.OutcomeKind{plan.Blocked, plan.AlreadyGone, plan.UnknownOutcome, plan.InProgress, plan.Dropped} {
		if n := countOutcomes(r, k); n > 0 {
			text += fmt.Sprintf("; %d %s", n, outcomeText(k))
		}
	}
	if more := emptiedText(r); more != "" {
		text += "; " + more
	}
	return color, text
}

// openGoalsText lists the unmet goals, waiting nodes and missing data of a plan without moves.
func (t *runTable) openGoalsText(p plan.Plan) (text string, color layout.Style) {
	color = green
	goals, met, _ := countGoals(p)
	if open := goals - met; open > 0 {
		text, color = fmt.Sprintf("; %s %s unmet", plural.Count(open, "goal"), plural.Choose(open, "stays", "stay")), yellow
	}
	if more := waitingText(automaticStrategies(p)); more != "" {
		text, color = text+"; waiting: "+more, yellow
	}
	if more := t.plan.proposedText(p); more != "" {
		text += "; " + more
	}
	if more := noDataText(p, true); more != "" {
		text, color = text+"; "+more, yellow
	}
	return text, color
}

// blockedText returns the start of the first line for a run in which a pause, the breaker or an alert prevented every
// eviction.
func blockedText(r plan.RunReport) string {
	blocking := []plan.Code{plan.Paused, plan.BreakerOpen, plan.AlertFiring, plan.AlertsUnknown}
	if r.Stopped == nil || countOutcomes(r, plan.Evicted) > 0 || !slices.Contains(blocking, r.Stopped.Code) {
		return ""
	}
	return "evictions are blocked (" + string(r.Stopped.Code) + "); "
}

func (t *runTable) writeOutcomes(r plan.RunReport) {
	if r.Plan.Filtered != nil {
		r.Outcomes = slices.DeleteFunc(slices.Clone(r.Outcomes), func(o plan.Outcome) bool {
			return !slices.ContainsFunc(r.Plan.Moves, func(m plan.Move) bool { return m.Step == o.Step })
		})
	}
	g := layout.NewGrid(">STEP", "*POD", "!OUTCOME", "REPLACEMENT", "LANDED ON", "AS PREDICTED", ">READY AFTER", "~NOTE")
	for _, o := range r.Outcomes {
		replacement, predicted := "-", "-"
		if o.Replacement != nil {
			replacement = escape(o.Replacement.Name)
		}
		if o.Landed != "" {
			predicted = "no"
			if o.LandedAsPredicted {
				predicted = "yes"
			}
		}
		g.Add(strconv.Itoa(o.Step), escape(o.Pod.String()), outcomeText(o.Outcome), replacement, orDash(escape(o.Landed)), predicted,
			orDash(escape(o.ReadyAfter)), orDash(reasonText(o.Reason)))
	}
	keep := maxShortOutcomes
	if !slices.ContainsFunc(r.Outcomes, func(o plan.Outcome) bool { return !asPlanned(o) }) {
		keep = 1 // the moves follow
	}
	t.out.addSection(outcomeRank, layout.Section{Title: "Outcome of each move", Picked: "that did not go as planned, or the first", Grid: g, Keep: keep,
		Order: orderBy(g.Len(), func(a, b int) int { return compareBool(asPlanned(r.Outcomes[a]), asPlanned(r.Outcomes[b])) })})
}

// asPlanned reports whether the outcome of a move is the planned one.
func asPlanned(o plan.Outcome) bool {
	return o.Outcome == plan.WouldEvict || o.Outcome == plan.Evicted && (o.LandedAsPredicted || o.Removed || o.Pending)
}

// addRunLine adds a paragraph about the run, apart from its plan.
func (t *runTable) addRunLine(format string, args ...any) {
	t.out.addParagraph(runRank, plain, fmt.Sprintf(format, args...))
}
