package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// maxShortMoves is the number of moves that a shortened report shows.
const maxShortMoves = 10

// maxShortOutcomes is the number of outcomes for which a shortened report makes room.
const maxShortOutcomes = 5

// maxOtherMoves is the number of moves of a replan or a proposal for which a shortened report makes room.
const maxOtherMoves = 3

func (t *planTable) writeMoves(p plan.Plan) {
	heads := []string{">STEP", ">WAVE", "*POD", "!FROM", "!TO", ">CONFIDENCE", "STRATEGY", "~REASON"}
	if t.out.wide {
		heads = append(heads, "OWNER", "GOALS", ">GOOD NODES", ">COMES BACK", ">STAYS PENDING", "STEERED BY", ">BENEFIT", ">PRIORITY")
	}
	g, short := layout.NewGrid(heads...), layout.NewGrid(">STEP", "*POD", "!FROM", "!TO", ">BENEFIT", ">CONFIDENCE", "STRATEGY", "~REASON")
	for _, m := range p.Moves {
		cells := []string{strconv.Itoa(m.Step), strconv.Itoa(m.Wave), escape(m.Pod.String()), escape(m.From), destinationText(m),
			percent.Of(m.Confidence), escape(m.Strategy), reasonText(m.Reason)}
		short.Add(cells[0], cells[2], cells[3], cells[4], number(m.Benefit), cells[5], cells[6], cells[7])
		if t.out.wide {
			cells = append(cells, escape(m.Owner.String()), escape(strings.Join(m.Goals, ",")), strconv.Itoa(m.Acceptable.Nodes),
				percent.Of(m.ReturnProbability), percent.Of(m.PendingProbability), orDash(escape(m.Steer)), number(m.Benefit), strconv.Itoa(int(m.Priority)))
		}
		g.Add(cells...)
	}
	keep := maxShortMoves
	if t.out.plan != mainPlan {
		keep = maxOtherMoves
	}
	if len(p.Moves) <= maxShortMoves {
		short = nil
	}
	t.out.addSection(moveRank, layout.Section{Title: "Moves, in order (a wave starts when the replacements of the previous wave are ready)",
		ShortTitle: "Moves, in order", Picked: "with the largest benefit", Grid: g, Brief: short, Order: byBenefit(p.Moves), Keep: keep,
		Most: maxShortMoves, Notes: movesLegend(p.Moves, t.out.wide)})
	t.writeWaveHints(p)
}

// byBenefit returns the indexes of the moves, the one with the largest benefit first.
func byBenefit(moves []plan.Move) []int {
	return orderBy(len(moves), func(a, b int) int { return cmp.Compare(moves[b].Benefit, moves[a].Benefit) })
}

// orderBy returns the numbers below n in an order. Equal ones keep theirs.
func orderBy(n int, compare func(a, b int) int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, compare)
	return all
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
	if m.RequestOnly != "" {
		to += ", by its operator"
	}
	return to
}

// movesLegend explains the columns of the moves. The wide form also gives the names of the JSON fields.
func movesLegend(moves []plan.Move, wide bool) (notes []string) {
	if slices.ContainsFunc(moves, plan.Move.WithoutPlace) {
		notes = append(notes, "no place predicted: the replacement may stay Pending (landing: notRequired)")
	}
	if slices.ContainsFunc(moves, func(m plan.Move) bool { return m.RequestOnly != "" }) {
		notes = append(notes, "by its operator: a budget may refuse the request; the operator of the pod sees it and moves the pod")
	}
	if wide && len(moves) > 0 {
		return append(notes, "CONFIDENCE (confidencePerMille in JSON): probability that the replacement lands on one of the GOOD NODES (acceptableNodes). "+
			"The move contributes to its goals on each of these nodes; TO is the likeliest node.",
			"COMES BACK (returnPerMille): probability that the replacement lands on the same node again. "+
				"STAYS PENDING (pendingPerMille): probability that no node takes the replacement.",
			"BENEFIT: normalised excess that the move removes.")
	}
	if slices.ContainsFunc(moves, func(m plan.Move) bool { return m.To != "" && m.Acceptable.Nodes > 1 }) {
		notes = append(notes, "(+n): the replacement may also land on n other nodes, where the move contributes to its goals as much")
	}
	return notes
}

// maxHintedNodes limits the nodes of one wave that the short form names.
const maxHintedNodes = 20

// writeWaveHints lists the nodes that carry a hint while a wave runs.
func (t *planTable) writeWaveHints(p plan.Plan) {
	g := layout.NewGrid(">WAVE", "HINT", "~NODES")
	for _, h := range p.Hints {
		nodes := h.Nodes
		if hidden := len(nodes) - maxHintedNodes; hidden > 0 && !t.out.wide {
			nodes = append(slices.Clone(nodes[:maxHintedNodes]), fmt.Sprintf("... and %d more: -o wide", hidden))
		}
		g.Add(strconv.Itoa(h.Wave), escape(h.Kind), escape(strings.Join(nodes, ", ")))
	}
	t.out.addSection(hintRank, layout.Section{Title: "Hints that keep replacements off nodes while a wave runs (evictor.steer)", Grid: g})
}

// writeRejections writes one line per reason code, the most frequent first. The wide form adds every sample.
func (t *planTable) writeRejections(p plan.Plan) {
	byCode := map[plan.Code][]plan.Rejection{}
	for _, r := range p.Rejections.Samples {
		byCode[r.Reason.Code] = append(byCode[r.Reason.Code], r)
	}
	codes := sortedKeys(p.Rejections.Counts)
	slices.SortStableFunc(codes, func(a, b plan.Code) int { return cmp.Compare(p.Rejections.Counts[b], p.Rejections.Counts[a]) })
	g, short := layout.NewGrid(">PODS", "WHY", "~FOR EXAMPLE"), layout.NewGrid(">PODS", "WHY", "~MEANING")
	for _, code := range codes {
		example := "-"
		if s := byCode[code]; len(s) > 0 {
			example = rejectionText(s[0])
		}
		g.Add(strconv.Itoa(p.Rejections.Counts[code]), escape(string(code)), example)
		short.Add(strconv.Itoa(p.Rejections.Counts[code]), escape(string(code)), cmp.Or(code.Meaning(), example))
	}
	t.out.addSection(rejectionRank, layout.Section{Title: "Not moved (pods that were considered, by reason)", Grid: g, Brief: short, Keep: 6,
		BriefNotes: []string{"docs/reference/reasons.md explains each reason; `evenkeel explain pod NAMESPACE/NAME` explains one pod"}})
	if !t.out.wide {
		return
	}
	g = layout.NewGrid("WHY", "POD", "NODE", "STRATEGY", "MESSAGE")
	for _, code := range sortedKeys(byCode) {
		for _, r := range byCode[code] {
			g.Add(escape(string(code)), escape(r.Pod.String()), orDash(escape(r.Node)), orDash(escape(r.Strategy)), escape(r.Reason.Message))
		}
	}
	t.out.addSection(rejectionRank, layout.Section{Title: "Not moved, pod by pod (the first pods of each reason)", Grid: g})
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
