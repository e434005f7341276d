package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
)

func (t *table) writeMoves(p plan.Plan) {
	heads := []string{">STEP", ">WAVE", "POD", "FROM", "TO", ">CONFIDENCE", "STRATEGY", "REASON"}
	if t.wide {
		heads = append(heads, "OWNER", "GOALS", ">GOOD NODES", ">COMES BACK", ">STAYS PENDING", "STEERED BY", ">BENEFIT", ">COST")
	}
	g := newGrid(heads...)
	for _, m := range p.Moves {
		cells := []string{strconv.Itoa(m.Step), strconv.Itoa(m.Wave), escape(m.Pod.String()), escape(m.From), destinationText(m),
			percent.Of(m.Confidence), escape(m.Strategy), reasonText(m.Reason)}
		if t.wide {
			cells = append(cells, escape(m.Owner.String()), escape(strings.Join(m.Goals, ",")), strconv.Itoa(m.Acceptable.Nodes),
				percent.Of(m.ReturnProbability), percent.Of(m.PendingProbability), orDash(escape(m.Steer)), number(m.Benefit), number(m.Cost))
		}
		g.addRow(cells...)
	}
	t.addSection("Moves, in order (a wave starts when the replacements of the previous wave are ready)", g, 0)
	t.writeMovesLegend(p.Moves)
	t.writeWaveHints(p)
}

// destinationText returns the likeliest node and the number of other acceptable nodes.
func destinationText(m plan.Move) string {
	if m.Removal != "" {
		return "removed by " + escape(string(m.Removal))
	}
	if m.WithoutPlace() {
		return "no place predicted"
	}
	to := orDash(escape(m.To))
	if others := m.Acceptable.Nodes - 1; m.To != "" && others > 0 {
		to += fmt.Sprintf(" (+%d)", others)
	}
	return to
}

// writeMovesLegend explains the columns of the moves. The wide form also gives the names of the JSON fields.
func (t *table) writeMovesLegend(moves []plan.Move) {
	if slices.ContainsFunc(moves, plan.Move.WithoutPlace) {
		t.addLine("  no place predicted: the replacement may stay Pending (landing: notRequired)")
	}
	if t.wide && len(moves) > 0 {
		t.addLine("  CONFIDENCE (confidence in JSON): probability that the replacement lands on one of the GOOD NODES (acceptable.nodes). " +
			"The move contributes to its goals on each of these nodes; TO is the likeliest node.")
		t.addLine("  COMES BACK (returnProbability): probability that the replacement lands on the same node again. " +
			"STAYS PENDING (pendingProbability): probability that no node takes the replacement.")
		t.addLine("  BENEFIT: normalised excess that the move removes. COST: disruption by the eviction; an ordinary pod costs 1.")
		return
	}
	if slices.ContainsFunc(moves, func(m plan.Move) bool { return m.To != "" && m.Acceptable.Nodes > 1 }) {
		t.addLine("  (+n): the replacement may also land on n other nodes, where the move contributes to its goals as much")
	}
}

// writeWaveHints lists the nodes that carry a hint while a wave runs.
func (t *table) writeWaveHints(p plan.Plan) {
	g := newGrid(">WAVE", "HINT", "NODES")
	for _, h := range p.Hints {
		nodes := h.Nodes
		if hidden := len(nodes) - maxLines; hidden > 0 && !t.wide {
			nodes = append(slices.Clone(nodes[:maxLines]), fmt.Sprintf("... and %d more (-o wide shows all)", hidden))
		}
		g.addRow(strconv.Itoa(h.Wave), escape(h.Kind), escape(strings.Join(nodes, ", ")))
	}
	t.addSection("Hints that keep replacements off nodes while a wave runs (evictor.steer)", g, 0)
}

// writeRejections writes one line per reason code. The wide form adds every sample.
func (t *table) writeRejections(p plan.Plan) {
	byCode := map[plan.Code][]plan.Rejection{}
	for _, r := range p.Rejections.Samples {
		byCode[r.Reason.Code] = append(byCode[r.Reason.Code], r)
	}
	g := newGrid(">PODS", "WHY", "FOR EXAMPLE")
	for _, code := range sortedKeys(p.Rejections.Counts) {
		example := "-"
		if s := byCode[code]; len(s) > 0 {
			example = rejectionText(s[0])
		}
		g.addRow(strconv.Itoa(p.Rejections.Counts[code]), escape(string(code)), example)
	}
	t.addSection("Not moved (pods that were considered, by reason)", g, 0)
	if !t.wide {
		return
	}
	g = newGrid("WHY", "POD", "NODE", "STRATEGY", "MESSAGE")
	for _, code := range sortedKeys(byCode) {
		for _, r := range byCode[code] {
			g.addRow(escape(string(code)), escape(r.Pod.String()), orDash(escape(r.Node)), orDash(escape(r.Strategy)), escape(r.Reason.Message))
		}
	}
	t.addSection("Not moved, pod by pod (the first pods of each reason)", g, 0)
}

func rejectionText(r plan.Rejection) string {
	where := escape(r.Pod.String())
	if r.Node != "" {
		where += " on " + escape(r.Node)
	}
	if r.Reason.Message == "" {
		return where
	}
	return where + ": " + escape(r.Reason.Message)
}
