package report

import (
	"fmt"
	"io"
	"strings"
)

// maxLines limits the sections that grow with the cluster. Wide shows all lines.
const maxLines = 20

// table collects the lines of a report.
type table struct {
	wide, color bool
	lines       []string
}

func newTable(format Format, opts []Options) *table {
	t := &table{wide: format == Wide}
	if len(opts) > 0 {
		t.color = opts[0].Color
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
