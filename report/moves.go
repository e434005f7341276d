package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
)

func (t *table) moves(p plan.Plan) {
	heads := []string{">STEP", ">WAVE", "POD", "FROM", "TO", ">CONFIDENCE", "STRATEGY", "REASON"}
	if t.wide {
		heads = append(heads, "OWNER", "GOALS", ">GOOD NODES", ">COMES BACK", ">STAYS PENDING", "STEERED BY", ">BENEFIT", ">COST")
	}
	g := columns(heads...)
	for _, m := range p.Moves {
		cells := []string{strconv.Itoa(m.Step), strconv.Itoa(m.Wave), safe(m.Pod.String()), safe(m.From), destination(m),
			percent(m.Confidence), safe(m.Strategy), reasonText(m.Reason)}
		if t.wide {
			cells = append(cells, safe(m.Owner.String()), safe(strings.Join(m.Goals, ",")), strconv.Itoa(m.Acceptable.Nodes),
				percent(m.ReturnProbability), percent(m.PendingProbability), orDash(safe(m.Steer)), number(m.Benefit), number(m.Cost))
		}
		g.row(cells...)
	}
	t.section("Moves, in order (a wave starts when the replacements of the previous wave are ready)", g, 0)
	t.movesLegend(p.Moves)
	t.waveHints(p)
}

// destination returns the likeliest node and the number of other acceptable nodes.
func destination(m plan.Move) string {
	to := orDash(safe(m.To))
	if others := m.Acceptable.Nodes - 1; m.To != "" && others > 0 {
		to += fmt.Sprintf(" (+%d)", others)
	}
	return to
}

// movesLegend explains the columns of the moves. The wide form also gives their
// names in JSON.
func (t *table) movesLegend(moves []plan.Move) {
	if t.wide && len(moves) > 0 {
		t.line("  CONFIDENCE (confidence in JSON): probability that the replacement lands on one of the GOOD NODES (acceptable.nodes). " +
			"The move serves its goals on each of them; TO is the likeliest.")
		t.line("  COMES BACK (returnProbability): it lands on the same node again. STAYS PENDING (pendingProbability): no node takes it.")
		t.line("  BENEFIT: excess that the move removes, normalised. COST: disruption; an ordinary pod costs 1.")
		return
	}
	if slices.ContainsFunc(moves, func(m plan.Move) bool { return m.To != "" && m.Acceptable.Nodes > 1 }) {
		t.line("  (+n): n other nodes would serve the goals as well")
	}
}

// waveHints lists the nodes that carry a hint while a wave runs.
func (t *table) waveHints(p plan.Plan) {
	g := columns(">WAVE", "HINT", "NODES")
	for _, h := range p.Hints {
		nodes := make([]string, len(h.Nodes))
		for i, n := range h.Nodes {
			nodes[i] = safe(n)
		}
		if hidden := len(nodes) - maxLines; hidden > 0 && !t.wide {
			nodes = append(nodes[:maxLines], fmt.Sprintf("... and %d more (-o wide shows all)", hidden))
		}
		g.row(strconv.Itoa(h.Wave), safe(h.Kind), strings.Join(nodes, ", "))
	}
	t.section("Hints that keep replacements off nodes while a wave runs (evictor.steer)", g, 0)
}

// rejections writes one line per reason code. The wide form adds every sample.
func (t *table) rejections(p plan.Plan) {
	byCode := map[plan.Code][]plan.Rejection{}
	for _, r := range p.Rejections.Samples {
		byCode[r.Reason.Code] = append(byCode[r.Reason.Code], r)
	}
	g := columns(">PODS", "WHY", "FOR EXAMPLE")
	for _, code := range sortedKeys(p.Rejections.Counts) {
		example := "-"
		if s := byCode[code]; len(s) > 0 {
			example = exampleText(s[0])
		}
		g.row(strconv.Itoa(p.Rejections.Counts[code]), safe(string(code)), example)
	}
	t.section("Not moved (pods that were considered, by reason)", g, 0)
	if !t.wide {
		return
	}
	g = columns("WHY", "POD", "NODE", "STRATEGY", "MESSAGE")
	for _, code := range sortedKeys(byCode) {
		for _, r := range byCode[code] {
			g.row(safe(string(code)), safe(r.Pod.String()), orDash(safe(r.Node)), orDash(safe(r.Strategy)), safe(r.Reason.Message))
		}
	}
	t.section("Not moved, pod by pod (the first pods of each reason)", g, 0)
}

func exampleText(r plan.Rejection) string {
	where := safe(r.Pod.String())
	if r.Node != "" {
		where += " on " + safe(r.Node)
	}
	if r.Reason.Message == "" {
		return where
	}
	return where + ": " + safe(r.Reason.Message)
}
