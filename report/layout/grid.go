package layout

import "strings"

// gap separates columns, and indents rows.
const gap = "  "

// minText is the smallest width in which a column of text is readable. A narrower one moves below its row.
const minText = 24

// Grid aligns cells in columns. Lines have no trailing spaces.
type Grid struct {
	columns []column
	rows    [][]string
	// key is the index of the column that names the rows. It and those before it stay in the line, even if they are too
	// wide.
	key int
}

// column is one column of a grid.
type column struct {
	head string
	// right aligns the cells to the right.
	right bool
	// text allows to break the cells between words. All other cells stay in one line.
	text bool
	// whole forbids to cut a text in a brief form.
	whole bool
	// needed puts the cells below their rows if they have no room, also in a brief form.
	needed bool
}

// NewGrid returns a grid with these headings. The first character may say more: ">" aligns a column to the right, "~"
// marks a column of text, "=" a column of text with names, which is never cut, "!" a column that a brief form keeps,
// and "*" the column that names the rows, which otherwise is the first one. A grid whose headings are all empty has no
// heading.
func NewGrid(heads ...string) *Grid {
	g := &Grid{}
	for i, h := range heads {
		whole := strings.HasPrefix(h, "=")
		c := column{head: strings.TrimLeft(h, ">~=*!"), right: strings.HasPrefix(h, ">"), text: whole || strings.HasPrefix(h, "~"), whole: whole,
			needed: strings.HasPrefix(h, "!")}
		g.columns = append(g.columns, c)
		if strings.HasPrefix(h, "*") {
			g.key = i
		}
	}
	return g
}

// Add adds a row with one cell for each column.
func (g *Grid) Add(cells ...string) { g.rows = append(g.rows, cells) }

// Len returns the number of rows.
func (g *Grid) Len() int { return len(g.rows) }

// Cut keeps the first n rows.
func (g *Grid) Cut(n int) { g.rows = g.rows[:min(n, len(g.rows))] }

// Cells is the content of a grid, for forms that align it themselves.
type Cells struct {
	Heads []string
	Right []bool // columns of numbers
	Rows  [][]string
	Key   int // the column that names the rows
}

// Cells returns the content of the grid.
func (g *Grid) Cells() Cells {
	c := Cells{Rows: g.rows, Key: g.key}
	for _, of := range g.columns {
		c.Heads, c.Right = append(c.Heads, of.head), append(c.Right, of.right)
	}
	return c
}

// Lines returns the heading and all rows, for lists outside of a page. Lines are at most width columns wide if their
// names allow it; 0 means no limit.
func (g *Grid) Lines(width int) []string {
	rows := make([]int, g.Len())
	for i := range rows {
		rows[i] = i
	}
	return g.lines(rows, form{width: width})
}

// Rows returns one line for each row, without the heading, which must not be empty.
func (g *Grid) Rows() []string { return g.Lines(0)[1:] }

// form says how a grid is written.
type form struct {
	width int // 0: no limit
	// brief cuts text, and leaves out columns that have no room, unless they are needed. Otherwise, columns without
	// room follow below their row.
	brief bool
}

// lines writes the heading and the rows with these indexes.
func (g *Grid) lines(rows []int, f form) []string {
	fit := g.fit(rows, f)
	var lines []string
	heads := make([]string, len(g.columns))
	for i, c := range g.columns {
		heads[i] = c.head
	}
	if strings.Join(heads, "") != "" {
		lines = append(lines, g.line(fit, heads))
	}
	for _, r := range rows {
		lines = append(lines, g.row(fit, g.rows[r], f)...)
	}
	return lines
}

// fitted is the width of each column in a grid. Columns with a width of 0 are not in the line of the row.
type fitted []int

// fit returns the widths of the columns. If the columns do not fit, text gets narrower; the last columns lose their
// place in the line if that is not enough.
func (g *Grid) fit(rows []int, f form) fitted {
	natural := make(fitted, len(g.columns))
	for i, c := range g.columns {
		natural[i] = max(1, Width(c.head))
		for _, r := range rows {
			natural[i] = max(natural[i], Width(g.rows[r][i]))
		}
	}
	if f.width <= 0 {
		return natural
	}
	for n := len(natural); n > g.key; n-- {
		if w, ok := g.narrow(natural, n, f.width); ok {
			return w
		}
	}
	w := make(fitted, len(natural))
	copy(w, natural[:g.key+1])
	for i, c := range g.columns[:g.key+1] {
		if c.text {
			w[i] = min(w[i], max(minText, f.width-len(gap)))
		}
	}
	return w
}

// narrow fits the first n columns into a width. It reports false if a column of text would be unreadable.
func (g *Grid) narrow(natural fitted, n, width int) (fitted, bool) {
	w := make(fitted, len(natural))
	copy(w, natural[:n])
	over := -width
	for _, c := range w[:n] {
		over += len(gap) + c
	}
	for over > 0 {
		widest := -1
		for i := range w[:n] {
			if g.columns[i].text && (widest < 0 || w[i] > w[widest]) {
				widest = i
			}
		}
		if widest < 0 || w[widest] <= max(minText, Width(g.columns[widest].head)) {
			return nil, false
		}
		w[widest]--
		over--
	}
	return w, true
}

// row writes one row.
func (g *Grid) row(fit fitted, cells []string, f form) []string {
	parts, height := make([][]string, len(cells)), 1
	var below []string
	for i, cell := range cells {
		switch {
		case fit[i] == 0 && (!f.brief || g.columns[i].needed) && cell != "" && cell != "-":
			if head := g.columns[i].head; head != "" {
				cell = head + ": " + cell
			}
			below = append(below, cell)
			continue
		case fit[i] == 0:
			continue
		case g.columns[i].text && f.brief && !g.columns[i].whole:
			parts[i] = []string{cutCell(cell, fit[i])}
		case g.columns[i].text:
			parts[i] = wrap(cell, fit[i])
		default:
			parts[i] = []string{cell}
		}
		height = max(height, len(parts[i]))
	}
	lines := make([]string, 0, height)
	for n := range height {
		line := make([]string, len(cells))
		for i, p := range parts {
			if n < len(p) {
				line[i] = p[n]
			}
		}
		lines = append(lines, g.line(fit, line))
	}
	return append(lines, belowRow(below, f.width)...)
}

// belowRow writes the cells that have no room in the line of their row, indented.
func belowRow(cells []string, width int) []string {
	if len(cells) == 0 {
		return nil
	}
	const indent = gap + gap + gap
	return wrap(indent+strings.Join(cells, ", "), width)
}

// line writes one line of cells.
func (g *Grid) line(fit fitted, cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		if fit[i] > 0 {
			b.WriteString(gap + pad(cell, fit[i], g.columns[i].right))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
