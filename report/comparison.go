package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// Comparison writes c to w in the same way as Plan.
func Comparison(w io.Writer, format Format, c plan.Comparison, opts ...Options) error {
	return writeDocument(w, format, c, opts, func(t *table) {
		t.listed = goalRank
		comparisonTable{t}.write(c)
	})
}

// comparisonTable writes comparisons.
type comparisonTable struct{ out *table }

func (t comparisonTable) write(c plan.Comparison) {
	color, text := green, comparisonVerdict(c)
	if sum := sumOf(c); sum.Repaired < sum.Found || sum.Caused > 0 {
		color = yellow
	}
	t.out.addVerdict(color, text)
	if warning := escape(plan.OtherDeschedulersText(c.OtherDeschedulers, t.out.wide)); warning != "" {
		t.out.addText(yellow, warning)
	}
	t.out.addLine("State of %s, Kubernetes %s.", c.TakenAt.UTC().Format(timeLayout), orDash(escape(c.Cluster.Version)))
	for _, p := range c.Plugins {
		if p.NoData != "" {
			t.out.addText(yellow, fmt.Sprintf("%s (%s) could judge nothing: %s.", escape(p.Plugin), escape(p.Strategy), escape(p.NoData)))
		}
		if p.Waiting != "" {
			t.out.addLine("%s (%s) finds nothing: %s. The descheduler does nothing either.", escape(p.Plugin), escape(p.Strategy), escape(p.Waiting))
		}
	}
	t.writePlugins(c)
	t.writeViolations(c)
}

// sumOf adds the counts of all plugins.
func sumOf(c plan.Comparison) (sum plan.ComparedPlugin) {
	for _, p := range c.Plugins {
		sum.Found += p.Found
		sum.Repaired += p.Repaired
		sum.WaitForApproval += p.WaitForApproval
		sum.Shown += p.Shown
		sum.Left += p.Left
		sum.Caused += p.Caused
	}
	return sum
}

// comparisonVerdict writes the first line: how many violations the policy finds, and what the plan does about them.
func comparisonVerdict(c plan.Comparison) string {
	sum := sumOf(c)
	text := fmt.Sprintf("Policy %s: %s", escape(c.Policy), plural.Count(sum.Found, "violation"))
	if sum.Found > 0 {
		text += fmt.Sprintf("; the plan with %s repairs %d", plural.Count(c.Evictions, "eviction"), sum.Repaired)
	}
	if sum.WaitForApproval > 0 {
		text += fmt.Sprintf(", moves that wait for approval repair %d more", sum.WaitForApproval)
	}
	if sum.Shown > 0 {
		text += fmt.Sprintf(", moves that are only shown would repair %d more", sum.Shown)
	}
	if sum.Left > 0 {
		text += fmt.Sprintf(", %d left (reasons below)", sum.Left)
	}
	if sum.Caused > 0 {
		text += "; the plan causes " + plural.Count(sum.Caused, "violation")
	}
	return text + "."
}

// writePlugins counts the violations of each plugin. It leaves out optional columns without violations.
func (t comparisonTable) writePlugins(c plan.Comparison) {
	columns := []struct {
		title    string
		count    func(plan.ComparedPlugin) int
		optional bool
	}{
		{"FOUND", func(p plan.ComparedPlugin) int { return p.Found }, false},
		{"REPAIRED", func(p plan.ComparedPlugin) int { return p.Repaired }, false},
		{"IF APPROVED", func(p plan.ComparedPlugin) int { return p.WaitForApproval }, true},
		{"ONLY SHOWN", func(p plan.ComparedPlugin) int { return p.Shown }, true},
		{"LEFT", func(p plan.ComparedPlugin) int { return p.Left }, false},
		{"CAUSED", func(p plan.ComparedPlugin) int { return p.Caused }, true},
	}
	head, rows := []string{"PLUGIN", "CONVERTED TO"}, make([][]string, len(c.Plugins))
	for i, p := range c.Plugins {
		rows[i] = []string{escape(p.Plugin), escape(p.Strategy)}
	}
	for _, col := range columns {
		if col.optional && !t.out.wide && col.count(sumOf(c)) == 0 {
			continue
		}
		head = append(head, ">"+col.title)
		for i, p := range c.Plugins {
			rows[i] = append(rows[i], strconv.Itoa(col.count(p)))
		}
	}
	g := layout.NewGrid(head...)
	for _, row := range rows {
		g.Add(row...)
	}
	var notes []string
	if sumOf(c).Found > 0 {
		notes = []string{"FOUND also counts pods that the DefaultEvictor of the policy protects, because its guards do not count here."}
	}
	t.out.addSection(strategyRank, layout.Section{Title: "Violations by plugin", Grid: g, Notes: notes, Keep: 10})
}

func (t comparisonTable) writeViolations(c plan.Comparison) {
	g := layout.NewGrid("PLUGIN", "=WANTED", ">NOW", ">AFTER", "BY", "~WHAT THE PLAN DOES")
	for _, v := range c.Violations {
		g.Add(escape(v.Plugin), goalText(v.Goal), excessText(v.Goal, v.Goal.Excess), excessText(v.Goal, v.ExcessAfter),
			orDash(escape(strings.Join(v.Strategies, ", "))), t.resultText(v))
	}
	t.out.addSection(goalRank, layout.Section{Title: "Violations, and what the plan does about each (BY: strategies of the configuration that look at it)",
		ShortTitle: "Violations", Grid: g})
}

// resultText describes what the plan does about a violation.
func (t comparisonTable) resultText(v plan.Violation) string {
	moves := t.movesText(v.Moves)
	switch v.Result {
	case plan.ViolationRepaired:
		return "repaired: " + moves
	case plan.ViolationWaitsForApproval:
		return "repaired if approved: " + moves
	case plan.ViolationShown:
		return "only shown: " + moves
	case plan.ViolationCaused:
		return "caused: " + moves
	}
	text := "left"
	if len(v.Moves) > 0 {
		text = "improved (" + moves + "), but left"
	}
	if v.Reason != nil {
		text += ", " + escape(string(v.Reason.Code)) + ": " + escape(v.Reason.Message)
	}
	return text
}

// maxViolationMoves bounds the moves that a line names. The wide form names all.
const maxViolationMoves = 2

func (t comparisonTable) movesText(moves []plan.ViolationMove) string {
	var out []string
	for i, m := range moves {
		if i == maxViolationMoves && !t.out.wide {
			out = append(out, fmt.Sprintf("%d more", len(moves)-i))
			break
		}
		where := "leaves " + orDash(escape(m.From))
		if m.To != "" {
			where = escape(m.From) + " to " + escape(m.To)
		}
		out = append(out, escape(m.Pod.String())+" "+where)
	}
	return strings.Join(out, ", ")
}
