package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/layout"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// planTable writes plans.
type planTable struct {
	out    *table
	ended  bool // the plan is part of the report of a run that has ended
	dryRun bool // no pass evicts anything, whatever the mode of a strategy
	// notKept is the code of the reason why the proposal in mode approve could not be kept, or "".
	notKept plan.Code
}

// writePlan writes the answers about a plan and then all of its sections. The answers are about the whole plan.
func (t *planTable) writePlan(v *view.View, effect string) {
	style, text := t.verdict(*v.Plan.Whole(), "Plan", effect)
	t.out.writeAnswers(answers.Of(v), style, text+".")
	t.writeSections(v.Plan)
}

// writeSections writes the sections of a plan.
func (t *planTable) writeSections(p plan.Plan) {
	t.writeEmptyScopes(p)
	if score := balanceText(p); score != "" {
		t.out.addParagraph(runRank, plain, score)
	}
	if warning := escape(plan.OtherDeschedulersText(p.OtherDeschedulers, t.out.wide)); warning != "" {
		t.out.addText(yellow, warning)
	}
	t.writeOrigin(p)
	t.writeInputs(p)
	t.writeStrategies(p)
	t.writeGoals(p)
	t.writeNodes(p)
	t.writeZones(p)
	t.writeWorkloads(p)
	t.writePressureHints(p)
	t.writeMoves(p)
	t.writeRejections(p)
	t.writeBound(*p.Whole())
	t.writeUnmetGoals(p)
	t.writeSchedulers(p)
	t.writeProposals(p)
}

// balanceText gives the balance score now and after the plan. It returns "" if the score is unknown.
func balanceText(p plan.Plan) string {
	before, after, known := p.Balance()
	if !known {
		return ""
	}
	score := func(b *plan.Balance) string { return strconv.FormatFloat(b.Score(), 'f', 1, 64) }
	return "Balance score " + changeText(score(before), score(after)) + " of 100. Compare it only under the same configuration."
}

// writeBlocks explains why the moves of the plan are not executed. It adds the age of a pause and
// how to end it: a pause may be left from an installation that was removed long ago.
func (t *table) writeBlocks(blocks []plan.EvictionBlock, at time.Time) {
	for _, b := range blocks {
		t.addText(yellow, "Nothing is evicted now: "+reasonText(b.Reason)+".")
		if b.Reason.Code != plan.Paused {
			continue
		}
		resume := "To end the pause, run `evenkeel resume`."
		if !b.Since.IsZero() && at.After(b.Since) {
			resume = "The pause is " + plan.AgeText(at.Sub(b.Since)) + " old. " + resume
		}
		t.addText(yellow, resume)
	}
}

const timeLayout = "2006-01-02 15:04:05 MST"

// writeOrigin writes the time at which the state was read, the Kubernetes version and the validity of the plan.
func (t *planTable) writeOrigin(p plan.Plan) {
	estimated := ""
	if p.TakenAtEstimated {
		estimated = " (newest time in the snapshot; the snapshot does not record when it was taken)"
	}
	version := cmp.Or(escape(p.Cluster.Version), "(version unknown)")
	if p.TakenAt.IsZero() {
		t.out.addLine("The time of the state and all ages are unknown, because no object in the snapshot has a timestamp; Kubernetes %s; plan %s.", version, shortPlanID(p.ID))
	} else {
		t.out.addLine("State of %s%s, Kubernetes %s; plan %s valid until %s.", p.TakenAt.UTC().Format(timeLayout), estimated,
			version, shortPlanID(p.ID), p.Expires.UTC().Format(timeLayout))
	}
	if len(p.WindowLimits) > 0 {
		t.out.addLine("The limits of the open windows apply: %s.", escape(strings.Join(p.WindowLimits, ", ")))
	}
}

// shortPlanID returns the first 12 characters of a content hash.
func shortPlanID(id string) string {
	return orDash(escape(id[:min(len(id), 12)]))
}

func (t *planTable) writeGoals(p plan.Plan) {
	title := "Goals not met now"
	if t.ended {
		title = "Goals not met when the plan was made (" + p.TakenAt.UTC().Format(timeLayout) + ")"
	}
	t.writeGoalsUnder(title, p)
}

func (t *planTable) writeGoalsUnder(title string, p plan.Plan) {
	g := layout.NewGrid("GOAL", "STRATEGY", "=WANTED", ">NOW", ">AFTER")
	var shares []float64 // the share of the excess that the plan removes, for each row
	var stay []bool      // by row: the goal stays unmet
	collapsed := map[string]bool{}
	for _, goal := range p.Goals {
		if n := podGoalsOf(p, goal); !t.out.wide && n.Unmet > 1 {
			if !collapsed[goal.Strategy] {
				collapsed[goal.Strategy] = true
				words := wordsOfStrategy(p, goal)
				g.Add(escape(goal.ID)+", ...", escape(goal.Strategy), "pods "+words.done+", such as "+goalText(goal),
					podsToMoveText(n.Unmet, words.toDo), podsToMoveText(n.UnmetAfter, words.toDo))
				shares, stay = append(shares, removedShare(float64(n.Unmet), float64(n.UnmetAfter))), append(stay, n.UnmetAfter > 0)
			}
			continue
		}
		g.Add(escape(goal.ID), escape(goal.Strategy), goalText(goal), excessText(goal, goal.Excess), excessText(goal, p.After.Excess[goal.ID]))
		shares, stay = append(shares, removedShare(goal.Excess, p.After.Excess[goal.ID])), append(stay, p.After.Excess[goal.ID] > tiny)
	}
	t.out.addSection(goalRank, layout.Section{Title: title, Picked: "that stay unmet or change the most", Grid: g,
		Order: orderBy(g.Len(), func(a, b int) int {
			if stay[a] != stay[b] {
				return map[bool]int{true: -1, false: 1}[stay[a]]
			}
			return cmp.Compare(shares[b], shares[a])
		})})
}

// removedShare returns the share of the excess that the plan removes.
func removedShare(now, after float64) float64 {
	if now <= tiny {
		return 0
	}
	return (now - after) / now
}

// podGoalsOf returns the numbers of the goals about single pods to which the goal belongs.
func podGoalsOf(p plan.Plan, g plan.Goal) plan.PodGoals {
	i := slices.IndexFunc(p.PodGoals, func(n plan.PodGoals) bool { return g.Kind == plan.PodAway && n.Strategy == g.Strategy })
	if i < 0 {
		return plan.PodGoals{}
	}
	return p.PodGoals[i]
}

// writeInputs lists the sources with problems. The wide form lists all sources.
func (t *planTable) writeInputs(p plan.Plan) {
	g := layout.NewGrid("SOURCE", ">AGE", ">NODES COVERED", "~PROBLEMS")
	for _, in := range p.Inputs {
		if len(in.Problems) == 0 && !t.out.wide {
			continue
		}
		problems := cmp.Or(escape(strings.Join(in.Problems, "; ")), "none")
		source := escape(in.Source)
		if in.Statistic != "" {
			source += " (" + escape(in.Statistic) + ")"
		}
		g.Add(source, orDash(escape(in.Age)), coverageText(in), problems)
	}
	title := "Inputs with problems (missing data counts as unknown and causes no moves)"
	if t.out.wide {
		title = "Inputs"
	}
	t.out.addSection(inputRank, layout.Section{Title: title, Grid: g, Keep: 2})
}

// coverageText writes the share of nodes that a source covers. A complete source that does not describe nodes has none.
func coverageText(in plan.Input) string {
	if in.Coverage == 1 && slices.Contains(inputsNotAboutNodes, in.Source) {
		return "-"
	}
	return percent.Of(in.Coverage)
}

// inputsNotAboutNodes are sources whose coverage says nothing, because they do not describe nodes one by one.
var inputsNotAboutNodes = []string{"strategies", "others", "hints", "annotations", "guards"}

// writeSchedulers writes how many bindings of each scheduler were predicted correctly.
func (t *planTable) writeSchedulers(p plan.Plan) {
	g := layout.NewGrid("SCHEDULER", ">PODS", ">BINDINGS SEEN", ">PREDICTED", ">CORRECT", ">HIT RATE", "ITS PODS")
	for _, s := range p.Schedulers {
		rate, pods := "-", "stay"
		if s.HitRate != nil {
			rate = percent.Of(*s.HitRate)
		}
		switch {
		case s.Trusted:
			pods = "may move"
		case s.Planned:
			pods = "planned, untrusted"
		}
		g.Add(escape(s.Name), strconv.Itoa(s.Pods), strconv.Itoa(s.Seen), strconv.Itoa(s.Predicted), strconv.Itoa(s.Hits), rate, pods)
	}
	t.out.addSection(schedulerRank, layout.Section{Title: "Schedulers (placement.trust sets how many predictions must be correct)", Grid: g})
}
