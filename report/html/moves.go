package html

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

const (
	// maxColumns and maxArrows are the nodes and the moves up to which each move is an arrow between nodes.
	maxColumns, maxArrows = 12, 40
	// maxFlows is the number of pairs of zones that have an arrow.
	maxFlows = 24
	// maxWaves is the number of bars of the chart of waves.
	maxWaves = 120
	// maxMoves is the number of moves that one table lists. Of more, the page lists maxPicked of each kind.
	maxMoves, maxPicked = 5000, 1000
)

// Moves is a section with the moves of one plan.
type Moves struct {
	ID, Title string
	Lead      answers.Text
	Empty     bool
	Steps     *Steps // small plans
	Flow      *Flow  // large plans
	Waves     *Waves
	Levels    *Table // moves by confidence
	Tables    []Table
	Details   []Details
	All       *Details // every move, with a filter
}

// listed is a plan whose moves a section shows.
type listed struct {
	id, title string
	plan      *plan.Plan
	mode      plan.StrategyMode
	omitted   int
}

// makeMoves makes a section for the plan, and one for each proposal with moves.
func (r *Report) makeMoves() (out []Moves) {
	for _, of := range r.lists() {
		out = append(out, r.movesOf(of))
	}
	return out
}

func (r *Report) lists() []listed {
	main := listed{id: "moves", title: "Moves", plan: r.plan, mode: r.view.Mode, omitted: r.omitted.Moves}
	out := []listed{main}
	if run := r.view.Run; run != nil && run.Replan != nil && len(run.Replan.Moves) > 0 {
		out = append(out, listed{id: "replan", title: "Moves of the second plan", plan: run.Replan, mode: r.view.Mode})
	}
	for i := range r.plan.Proposals {
		of := &r.plan.Proposals[i]
		if len(of.Plan.Moves) == 0 {
			continue
		}
		l := listed{id: "shown", title: "Moves that are only shown", plan: &of.Plan, mode: of.Mode, omitted: len(of.Plan.Whole().Moves) - len(of.Plan.Moves)}
		if of.Mode == plan.Approve {
			l.id, l.title = "approval", "Moves that wait for approval"
		}
		out = append(out, l)
	}
	return out
}

func (r *Report) movesOf(of listed) Moves {
	p := of.plan
	s := Moves{ID: of.id, Title: of.title, Lead: r.movesLead(of)}
	if len(p.Moves) == 0 {
		s.Empty = true
		return s
	}
	used := r.usedNodes(p)
	if len(used) <= maxColumns && len(p.Moves) <= maxArrows {
		s.Steps = r.steps(p, used)
		return s
	}
	waves := 0
	for i := range p.Moves {
		waves = max(waves, p.Moves[i].Wave)
	}
	s.Flow, s.Waves, s.Levels = r.flow(p), wavesOf(p, waves), levelsOf(p.Moves)
	byBenefit := slices.Clone(p.Moves)
	slices.SortStableFunc(byBenefit, func(a, b plan.Move) int { return cmp.Compare(b.Benefit, a.Benefit) })
	unsure := slices.DeleteFunc(slices.Clone(p.Moves), func(m plan.Move) bool { return m.Confidence >= 0.99 })
	slices.SortStableFunc(unsure, func(a, b plan.Move) int { return cmp.Compare(a.Confidence, b.Confidence) })
	first := byBenefit[:min(maxOpen, len(byBenefit))]
	s.Tables = []Table{r.moveTable(p, first, fmt.Sprintf("The %d moves that do most for their goals", len(first)))}
	if wrong := r.notAsPredicted(p); len(wrong) > 0 {
		shown := wrong[:min(len(wrong), maxPicked)]
		s.Details = append(s.Details, Details{Summary: count(len(wrong), "move") + " that did not go as predicted",
			Tables: []Table{r.moveTable(p, shown, partCaption("Not as predicted", len(shown), len(wrong)))}})
	}
	if len(unsure) > 0 {
		shown := unsure[:min(len(unsure), maxPicked)]
		s.Details = append(s.Details, Details{Summary: count(len(unsure), "move") + " with less than 99% confidence",
			Tables: []Table{r.moveTable(p, shown, partCaption("Least certain moves", len(shown), len(unsure)))}})
	}
	all, summary := p.Moves, "All "+count(len(p.Moves), "move")
	caption := "All moves, in order"
	if len(all) > maxMoves {
		all = byBenefit[:maxPicked]
		summary = fmt.Sprintf("The %s most useful of %s", number(maxPicked), count(len(p.Moves), "move"))
		caption = "Most useful first; evenkeel plan -o json lists every move"
	}
	t := r.moveTable(p, all, caption)
	t.Filter = true
	s.All = &Details{Summary: summary, Tables: []Table{t}}
	return s
}

func (r *Report) movesLead(of listed) answers.Text {
	p, waves := of.plan, 0
	for _, m := range p.Whole().Moves {
		waves = max(waves, m.Wave)
	}
	n := len(p.Moves)
	switch {
	case n == 0 && of.omitted > 0:
		return text(r.leavesOut("its "+count(of.omitted, "move"), ""))
	case n == 0 && len(p.Blocks) > 0:
		return text("The plan has no moves: evictions are blocked.")
	case n == 0:
		return text("The plan has no moves.")
	}
	lead := fmt.Sprintf("%s in %s; the proven minimum for this result is %s. ", count(n+of.omitted, "eviction"), count(waves, "wave"), number(p.Bound.MinForPlan))
	switch {
	case r.isRun(p):
		lead = r.outcomeLead(p)
	case of.mode == plan.Approve:
		lead += "They begin where the moves of automatic strategies have ended. Nothing is evicted before a person approves it. "
	case of.mode == plan.ShowOnly:
		lead += "They begin where the moves of automatic strategies have ended. Strategies in mode dryRun only show their moves. "
	}
	if !r.isRun(p) {
		lead += "A wave starts when the replacements of the wave before it are Ready. You can stop after any step: no goal is then worse than now."
	}
	if of.omitted > 0 {
		lead += " " + r.leavesOut(count(of.omitted, "move"), "")
	}
	return text(lead)
}

// usedNodes lists the nodes from and to which pods move, ordered by zone and name. Nodes that the report does not list
// come last.
func (r *Report) usedNodes(p *plan.Plan) []string {
	seen := map[string]bool{}
	for i := range p.Moves {
		seen[p.Moves[i].From] = true
		if to := p.Moves[i].To; to != "" {
			seen[to] = true
		}
		if o := r.outcomes[p.Moves[i].Step]; o != nil && o.Landed != "" {
			seen[o.Landed] = true
		}
	}
	var out []string
	for _, n := range r.nodes.all {
		if seen[n.now.Name] {
			out = append(out, n.now.Name)
			delete(seen, n.now.Name)
		}
	}
	return append(out, sortedKeys(seen)...)
}

// moveTable lists moves. With outcomes, it also says where the replacements landed.
func (r *Report) moveTable(p *plan.Plan, moves []plan.Move, caption string) Table {
	strategies, reasons := map[string]bool{}, map[plan.Code]bool{}
	for i := range p.Moves {
		strategies[p.Moves[i].Strategy], reasons[p.Moves[i].Reason.Code] = true, true
	}
	t := Table{Caption: text(caption), Class: "sortable moves", Heads: heads(">Step", ">Wave", "Pod", "From", "To, most likely")}
	t.Heads[2].Filter, t.Heads[3].Filter, t.Heads[4].Filter = "Namespace or pod", "Node", "Node"
	run := r.isRun(p)
	if run {
		t.Heads = append(t.Heads, Head{Text: "Actual", Filter: "Node"})
	}
	t.Heads = addHeads(t.Heads, ">Nodes that help", ">Confidence", ">Goals met")
	if len(strategies) > 1 {
		t.Heads = append(t.Heads, Head{Text: "Strategy", Filter: "Strategy"})
	}
	t.Heads = append(t.Heads, Head{Text: "Why", Filter: "Reason"})
	t.Rows = make([][]Cell, 0, len(moves))
	for i := range moves {
		m := &moves[i]
		row := make([]Cell, 0, len(t.Heads))
		row = append(row, countCell(m.Step), countCell(m.Wave), rowCell(m.Pod.String()), nameCell(m.From), destination(m))
		if run {
			row = append(row, r.actualCell(m))
		}
		row = append(row, countCell(m.Acceptable.Nodes), numberCell(percentOf(m.Confidence)), numberCell(significant(m.Benefit)))
		if len(strategies) > 1 {
			row = append(row, nameCell(m.Strategy))
		}
		why := whyCell(shortReason(m), "")
		if len(reasons) > 1 {
			why.Code = string(m.Reason.Code)
		}
		t.Rows = append(t.Rows, append(row, why))
	}
	return t
}

func destination(m *plan.Move) Cell {
	switch {
	case m.To != "":
		return nameCell(m.To)
	case m.Removal != "":
		return textCell("no replacement")
	}
	return textCell("no predicted place")
}

var overTarget = regexp.MustCompile(`^pods on \S+ request ([\d.>%]+) of its (\w+), above (\S+)$`)

// shortReason writes the message of a reason without what the other columns say.
func shortReason(m *plan.Move) string {
	if g := overTarget.FindStringSubmatch(m.Reason.Message); g != nil {
		return resourceWord(g[2]) + " " + g[1] + ", above " + g[3]
	}
	if m.Reason.Code == plan.DisplacedForMove {
		return "makes room for another move"
	}
	return answers.ZonesInWords(m.Reason.Message)
}

// levelsOf counts moves by confidence.
func levelsOf(moves []plan.Move) *Table {
	names := []string{"99% or more", "95% to 99%", "90% to 95%", "less than 90%"}
	counts := make([]int, len(names))
	for i := range moves {
		counts[fadeOf(moves[i].Confidence)]++
	}
	t := &Table{Caption: text("Moves by confidence"), Heads: heads("Confidence", "", "Moves")}
	for i, n := range counts {
		c := barCell(float64(n), float64(len(moves)))
		c.Class = fmt.Sprintf("fa k%d", i)
		t.Rows = append(t.Rows, []Cell{{Text: names[i], Row: true}, c, textCell(number(n))})
	}
	return t
}

// fadeOf returns how faint a move with this confidence is: 0 to 3.
func fadeOf(confidence float64) int {
	switch {
	case confidence >= 0.99:
		return 0
	case confidence >= 0.95:
		return 1
	case confidence >= 0.9:
		return 2
	}
	return 3
}
