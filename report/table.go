package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxLines limits the sections that grow with the cluster. Wide shows all lines.
const maxLines = 20

// table collects the lines of a report.
type table struct {
	wide, color bool
	ended       bool // the plan is part of the report of a run that has ended
	dryRun      bool // no pass evicts anything, whatever the mode of a strategy
	// namesWaiting reports that a line names the waiting plans, with the IDs to approve.
	namesWaiting bool
	// notKept is the code of the reason why the proposal in mode approve could not be kept, or "".
	notKept plan.Code
	lines   []string
}

func newTable(format Format, opts []Options) *table {
	t := &table{wide: format == Wide, dryRun: true}
	if len(opts) > 0 {
		t.color, t.dryRun = opts[0].Color, !opts[0].Evicts
	}
	return t
}

func (t *table) flush(w io.Writer) error {
	return writeBytes(w, []byte(strings.Join(t.lines, "\n")+"\n"))
}

func (t *table) addLine(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// Escape sequences for terminal colours.
const (
	bold   = "\x1b[1m"
	green  = "\x1b[1;32m"
	yellow = "\x1b[1;33m"
	plain  = "\x1b[0m"
)

// paint returns s in a colour. It returns s unchanged if colours are off.
func (t *table) paint(color, s string) string {
	if !t.color {
		return s
	}
	return color + s + plain
}

// addSection writes a grid under a title. It writes at most limit rows, or all rows
// if limit is 0 or the table is wide. It writes nothing if the grid has no rows.
func (t *table) addSection(title string, g *grid, limit int) {
	if len(g.rows) == 0 {
		return
	}
	hidden := 0
	if !t.wide && limit > 0 && len(g.rows) > limit {
		hidden = len(g.rows) - limit
		g.rows = g.rows[:limit]
	}
	t.addLine("")
	t.addLine("%s", t.paint(bold, title))
	t.lines = append(t.lines, g.lines()...)
	if hidden > 0 {
		t.addLine("  ... and %d more (-o wide shows all)", hidden)
	}
}

// grid aligns cells in columns. Two spaces separate columns, and lines have no trailing spaces.
type grid struct {
	head  []string
	right []bool
	rows  [][]string
}

// newGrid returns a grid with these headings. A heading that starts with ">" aligns its column to the right.
func newGrid(heads ...string) *grid {
	g := &grid{}
	for _, h := range heads {
		g.head = append(g.head, strings.TrimPrefix(h, ">"))
		g.right = append(g.right, strings.HasPrefix(h, ">"))
	}
	return g
}

func (g *grid) addRow(cells ...string) { g.rows = append(g.rows, cells) }

// lines returns the heading and the rows, each indented by two spaces.
func (g *grid) lines() []string {
	width := make([]int, len(g.head))
	all := append([][]string{g.head}, g.rows...)
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, 0, len(all))
	for _, row := range all {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if g.right[i] {
				cell, pad = pad+cell, ""
			}
			b.WriteString("  " + cell + pad)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// escape makes text from the cluster safe for a terminal.
func escape(s string) string { return terminal.Escape(s) }
