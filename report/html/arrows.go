package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// Track is an arrow in columns of nodes or zones. Positions are shares, so it fits any width and height.
type Track struct {
	Label  string
	Lines  []string // the positions of the columns
	Fade   int      // 0 to 3
	Width  string   // of the line
	Gap    string   // of the gap before the head
	From   string
	To     string
	Shape  string // right, left, loop or cross
	Landed string // where the replacement landed; empty without an outcome
	Filled bool   // it landed as predicted
}

// Steps shows each move as an arrow, in the order of the plan.
type Steps struct {
	Columns []string
	Waves   []WaveRows
	Actual  bool // the moves have outcomes
}

// WaveRows are the moves of one wave.
type WaveRows struct {
	Wave, Before int // Before is the wave before it, or 0
	Lines        []string
	Rows         []StepRow
}

// StepRow is one move.
type StepRow struct {
	Step       string
	Pod, From  string
	To         Cell
	Others     string // further nodes that help
	Track      Track
	Confidence string
	Actual     Cell
	Why        Cell
}

// Flow shows the moves between zones.
type Flow struct {
	Caption string
	Columns []string
	Arrows  bool // there are few enough zones for columns
	Rows    []FlowRow
}

// FlowRow is the moves from one zone to another.
type FlowRow struct {
	From, To             string
	Track                Track
	Moves, LowConfidence string
}

func (r *Report) steps(p *plan.Plan, columns []string) *Steps {
	s := &Steps{Columns: columns, Actual: r.isRun(p)}
	seen := map[string]int{}
	for i := range p.Moves {
		m := &p.Moves[i]
		if n := len(s.Waves); n == 0 || s.Waves[n-1].Wave != m.Wave {
			before := 0
			if n > 0 {
				before = s.Waves[n-1].Wave
			}
			s.Waves = append(s.Waves, WaveRows{Wave: m.Wave, Before: before, Lines: columnLines(len(columns))})
		}
		w := &s.Waves[len(s.Waves)-1]
		row := StepRow{Step: number(m.Step), Pod: m.Pod.String(), From: m.From, To: destination(m), Confidence: percentOf(m.Confidence),
			Track: track(columns, m.From, m.To, m.Confidence, m.Pod.Name+" leaves "+m.From+" for "+cmp.Or(m.To, "no predicted place")+", confidence "+percentOf(m.Confidence))}
		if n := m.Acceptable.Nodes - 1; m.To != "" && n > 0 {
			row.Others = count(n, "other node")
		}
		row.Why = whyCell(answers.ReasonOf(m), string(m.Reason.Code))
		if first, has := seen[m.Reason.Message]; has && m.Reason.Message != "" {
			row.Why = whyCell(fmt.Sprintf("As step %d", first), "")
		} else {
			seen[m.Reason.Message] = m.Step
		}
		if s.Actual {
			row.Actual = r.actualCell(m)
			r.addLanding(&row.Track, columns, m)
		}
		w.Rows = append(w.Rows, row)
	}
	return s
}

func columnX(i, n int) string { return fmt.Sprintf("%.2f%%", (float64(i)+0.5)/float64(n)*100) }

func columnLines(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = columnX(i, n)
	}
	return out
}

func track(columns []string, from, to string, confidence float64, label string) Track {
	i, j, n := slices.Index(columns, from), slices.Index(columns, to), len(columns)
	t := Track{Label: label, Lines: columnLines(n), Fade: fadeOf(confidence), From: columnX(i, n), To: columnX(j, n), Shape: "right", Width: "2", Gap: "4"}
	switch {
	case to == "":
		t.Shape = "cross"
	case i == j:
		t.Shape = "loop"
	case j < i:
		t.Shape = "left"
	}
	return t
}

func (r *Report) flow(p *plan.Plan) *Flow {
	type key struct{ from, to string }
	type sum struct {
		moves           int
		lowest, average float64
	}
	flows := map[key]*sum{}
	for i := range p.Moves {
		m := &p.Moves[i]
		k := key{zoneLabel(r.zoneOf[m.From]), zoneLabel(r.zoneOf[m.To])}
		if m.To == "" {
			k.to = ""
		}
		if flows[k] == nil {
			flows[k] = &sum{lowest: 1}
		}
		s := flows[k]
		s.moves, s.lowest, s.average = s.moves+1, min(s.lowest, m.Confidence), s.average+m.Confidence
	}
	keys := slices.SortedFunc(maps.Keys(flows), func(a, b key) int {
		return cmp.Or(cmp.Compare(flows[b].moves, flows[a].moves), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	f := &Flow{Caption: "Moves between zones: a thicker arrow is more moves, a loop stays in its zone", Arrows: len(r.zones) <= maxBlocks}
	if !f.Arrows {
		f.Caption = "Moves between zones"
	}
	if len(keys) > maxFlows {
		f.Caption += fmt.Sprintf(". The %d largest of %s pairs", maxFlows, number(len(keys)))
		keys = keys[:maxFlows]
	}
	top := flows[keys[0]].moves
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for _, z := range r.zones {
		f.Columns = append(f.Columns, zoneLabel(z))
	}
	for _, k := range keys {
		s := flows[k]
		row := FlowRow{From: k.from, To: cmp.Or(k.to, "no place"), Moves: number(s.moves), LowConfidence: percentOf(s.lowest)}
		if f.Arrows {
			row.Track = track(f.Columns, k.from, k.to, s.average/float64(s.moves), fmt.Sprintf("%s from %s to %s", count(s.moves, "move"), k.from, row.To))
			width := 1 + 3*float64(s.moves)/float64(top)
			row.Track.Width, row.Track.Gap = fmt.Sprintf("%.1f", width), fmt.Sprintf("%.1f", width+2)
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// Waves is a chart of the moves by wave.
type Waves struct {
	Caption, Label string
	Bars           []WaveBar
	Ticks          []WaveTick
	Hinted         bool
}

// WaveBar is the moves of one wave, or of several.
type WaveBar struct {
	Title, X, Width string
	Y, Height       string
	Fade            int
	Hint            bool
}

// WaveTick is a number below the chart.
type WaveTick struct{ X, Anchor, Text string }

// waveHeight is the height of the highest bar.
const waveHeight = 160

func wavesOf(p *plan.Plan, waves int) *Waves {
	each := (waves + maxWaves - 1) / maxWaves
	n := (waves + each - 1) / each
	moves, lowest, hinted := make([]int, n), make([]float64, n), make([]bool, n)
	for i := range lowest {
		lowest[i] = 1
	}
	top := 1
	for i := range p.Moves {
		at := (p.Moves[i].Wave - 1) / each
		moves[at]++
		top, lowest[at] = max(top, moves[at]), min(lowest[at], p.Moves[i].Confidence)
	}
	hints := 0
	for _, h := range p.Hints {
		if h.Wave >= 1 && h.Wave <= waves {
			hinted[(h.Wave-1)/each] = true
			hints++
		}
	}
	what := fmt.Sprintf("each of %s", count(waves, "wave"))
	if each > 1 {
		what = fmt.Sprintf("%s waves, %d waves in each bar", number(waves), each)
	}
	c := &Waves{Caption: fmt.Sprintf("Moves in %s; the highest bar is %s", what, number(top)), Hinted: hints > 0,
		Label: fmt.Sprintf("Moves in %s, at most %s; waves with hints: %s", what, number(top), number(hints))}
	for i := range n {
		title := fmt.Sprintf("Wave %d", i+1)
		if each > 1 {
			title = fmt.Sprintf("Waves %d to %d", i*each+1, min(waves, i*each+each))
		}
		share := float64(moves[i]) / float64(top)
		c.Bars = append(c.Bars, WaveBar{Title: fmt.Sprintf("%s: %s, lowest confidence %s", title, count(moves[i], "move"), percentOf(lowest[i])),
			X: fmt.Sprintf("%.2f%%", float64(i)/float64(n)*100), Width: fmt.Sprintf("%.2f%%", 80/float64(n)), Y: fmt.Sprintf("%.1f", 8+waveHeight*(1-share)),
			Height: fmt.Sprintf("%.1f", waveHeight*share), Fade: fadeOf(lowest[i]), Hint: hinted[i]})
	}
	c.Ticks = waveTicks(waves)
	return c
}

// waveTicks numbers the first wave, the last one, and at most five between them.
func waveTicks(waves int) []WaveTick {
	x := func(w int) string { return fmt.Sprintf("%.2f%%", (float64(w)-0.6)/float64(waves)*100) }
	out := []WaveTick{{X: x(1), Anchor: "start", Text: "wave 1"}}
	step := 1
	for f := 2; (waves+step-1)/step > 6; f = 7 - f { // 1, 2, 10, 20, 100: fewer than seven
		step *= f
	}
	for w := step; w < waves; w += step {
		if at := float64(w) / float64(waves); w > 1 && at > 0.12 && at < 0.93 {
			out = append(out, WaveTick{X: x(w), Anchor: "middle", Text: number(w)})
		}
	}
	if waves > 1 {
		out = append(out, WaveTick{X: x(waves), Anchor: "end", Text: number(waves)})
	}
	return out
}
