package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Style is how a terminal with colours shows a line.
type Style string

// Styles are escape sequences.
const (
	Plain  Style = ""
	Bold   Style = "\x1b[1m"
	Green  Style = "\x1b[1;32m"
	Yellow Style = "\x1b[1;33m"
	Red    Style = "\x1b[1;31m"
	reset        = "\x1b[0m"
)

// Paragraph is a line of text that is as wide as it is long. On a terminal it is broken between words.
type Paragraph struct {
	Text  string
	Style Style
	// Label stands before the text. On a terminal, all lines of the text begin behind it.
	Label string
	// Columns is the largest number of columns, also where no terminal shows the page; 0 means no limit.
	Columns int
	// Unbroken keeps the text in one line, however narrow the terminal is, so that a command can be copied.
	Unbroken bool
	// Most is the number of lines that a shortened page keeps of it on a terminal; 0 means all.
	Most int
	// Blank adds an empty line above.
	Blank bool
	// Rank orders what a shortened page keeps: the smallest first.
	Rank int
}

// Section is a title with rows. It is left out if it has no rows.
type Section struct {
	Title string
	// ShortTitle replaces the title if rows are left out, unless it is empty.
	ShortTitle string
	// Picked completes the title if rows are left out, such as "with the largest benefit".
	Picked string
	Grid   *Grid
	// Brief replaces Grid in a shortened page. It has the same rows, or is nil.
	Brief *Grid
	// Notes are lines below the rows. BriefNotes are only in a shortened page.
	Notes, BriefNotes []string
	// Order lists the indexes of the rows, the most important first. A shortened section keeps the first of them, and
	// shows them in the order of the grid. nil is the order of the grid.
	Order []int
	// Keep is the number of rows that a shortened page keeps if it can, and Most the largest number; 0 means no limit.
	Keep, Most int
	// Rank orders what a shortened page keeps: the smallest first.
	Rank int
	// Hidden is the number of rows that the section never shows, although the wide form does.
	Hidden int
}

// Page is a list of paragraphs and sections.
type Page struct{ blocks []Block }

// Block is a paragraph, or a section if Section is not nil.
type Block struct {
	Paragraph
	Section *Section
}

// Blocks returns the paragraphs and sections in their order.
func (p *Page) Blocks() []Block { return p.blocks }

// AddText adds a paragraph.
func (p *Page) AddText(t Paragraph) { p.blocks = append(p.blocks, Block{Paragraph: t}) }

// AddSection adds a section, unless it has no rows.
func (p *Page) AddSection(s Section) {
	if s.Grid.Len() > 0 {
		p.blocks = append(p.blocks, Block{Section: &s})
	}
}

// Options are the room of a page.
type Options struct {
	// Width is the number of columns of the terminal. Paragraphs are broken between words, and a line that is longer
	// counts as several. 0 means that no terminal shows the page: no line is broken, because programs search for
	// messages.
	Width int
	// Height is the largest number of lines; 0 means no limit.
	Height int
	// Color adds the styles.
	Color bool
}

// line is one line of output.
type line struct {
	text  string
	style Style
}

// Lines arranges the page. If it has more lines than Height, the page is shortened: text is cut, and rows of the least
// important sections are left out. The end then names the sections that are left out completely.
func (p *Page) Lines(o Options) []string {
	full, height := [][]line{}, 0
	for _, b := range p.blocks {
		if o.Height > 0 && height+b.rows() > o.Height { // it does not fit, so its lines need not be written
			height += b.rows()
			break
		}
		lines := b.lines(b.rows(), form{width: o.Width}, o)
		full, height = append(full, lines), height+heightOf(lines, o)
	}
	if o.Height > 0 && height > o.Height {
		full = p.shorten(o)
	}
	var out []string
	for _, lines := range full {
		for _, l := range lines {
			out = append(out, l.paint(o.Color))
		}
	}
	return out
}

func (l line) paint(color bool) string {
	if !color || l.style == Plain || l.text == "" {
		return l.text
	}
	return string(l.style) + l.text + reset
}

// heightOf returns the number of lines that a terminal shows.
func heightOf(lines []line, o Options) int {
	n := 0
	for _, l := range lines {
		n += rowsOn(l.text, o.Width)
	}
	return n
}

// rows returns the number of rows of a section, or 1 for a paragraph.
func (b *Block) rows() int {
	if b.Section == nil {
		return 1
	}
	return b.Section.Grid.Len()
}

// rank returns the importance of a block.
func (b *Block) rank() int {
	if b.Section == nil {
		return b.Rank
	}
	return b.Section.Rank
}

// lines writes a block with its n most important rows.
func (b *Block) lines(n int, f form, o Options) []line {
	if n == 0 {
		return nil
	}
	if b.Section == nil {
		return b.paragraph(f, o)
	}
	s := b.Section
	left := s.Grid.Len() - n
	title := s.Title
	if left > 0 {
		title = cmp.Or(s.ShortTitle, title)
		title += fmt.Sprintf(" (%d of %d", n, s.Grid.Len())
		if s.Picked != "" {
			title += " " + s.Picked
		}
		title += ")"
	}
	out := append([]line{{}}, styled(Bold, fold(title, f.brief, o))...)
	g := s.Grid
	if f.brief && s.Brief != nil {
		g = s.Brief
	}
	out = append(out, styled(Plain, g.lines(s.picked(n), f))...)
	if left+s.Hidden > 0 {
		out = append(out, line{text: fmt.Sprintf("  ... and %d more: -o wide", left+s.Hidden)})
	}
	notes := s.Notes
	if f.brief {
		notes = append(slices.Clone(notes), s.BriefNotes...)
	}
	for _, note := range notes {
		out = append(out, styled(Plain, fold("  "+note, f.brief, o))...)
	}
	return out
}

// picked returns the indexes of the n most important rows, in the order of the grid.
func (s *Section) picked(n int) []int {
	all := s.Order
	if all == nil {
		all = make([]int, s.Grid.Len())
		for i := range all {
			all[i] = i
		}
	}
	return slices.Sorted(slices.Values(all[:n]))
}

// paragraph writes a paragraph.
func (b *Block) paragraph(f form, o Options) []line {
	label, indent := b.Label, strings.Repeat(" ", Width(b.Label))
	width := o.Width
	if b.Columns > 0 && (width <= 0 || width > b.Columns) {
		width = b.Columns
	}
	switch {
	case b.Unbroken:
		width = 0
	case width > 0:
		width = max(1, width-len(indent))
	}
	lines := wrap(b.Text, width)
	if f.brief && b.Most > 0 && len(lines) > b.Most {
		lines = lines[:b.Most]
		lines[b.Most-1] = Cut(lines[b.Most-1]+" "+ellipsis+ellipsis, width)
	}
	for i := range lines {
		lines[i], label = label+lines[i], indent
	}
	out := styled(b.Style, lines)
	if b.Blank {
		out = append([]line{{}}, out...)
	}
	return out
}

// fold breaks text between words if it is for a terminal. A brief form cuts it to one line.
func fold(text string, brief bool, o Options) []string {
	if brief && o.Width > 0 {
		return []string{Cut(text, o.Width)}
	}
	return wrap(text, o.Width)
}

func styled(s Style, texts []string) []line {
	out := make([]line, len(texts))
	for i, t := range texts {
		out[i] = line{t, s}
	}
	return out
}

// shorten arranges the page in o.Height lines. The last of them name the sections that are left out: the page gets
// shorter until they have room.
func (p *Page) shorten(o Options) [][]line {
	for last := 2; ; last++ {
		out, rows := p.arrange(o.Height-last, o)
		end := p.leftOut(rows, o)
		if heightOf(end, o) <= last || last >= o.Height {
			return append(out, end)
		}
	}
}

// arrange writes the blocks in room lines, and returns the number of rows of each. First each block gets the rows that
// it keeps, the most important block first. Then the sections grow in turn, until there is no more room.
func (p *Page) arrange(room int, o Options) (out [][]line, rows []int) {
	f := form{width: o.Width, brief: true}
	order := make([]int, len(p.blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return p.blocks[a].rank() - p.blocks[b].rank() })
	out, rows = make([][]line, len(p.blocks)), make([]int, len(p.blocks))
	set := func(i, n int) bool {
		lines := p.blocks[i].lines(n, f, o)
		more := heightOf(lines, o) - heightOf(out[i], o)
		if more > room {
			return false
		}
		out[i], rows[i], room = lines, n, room-more
		return true
	}
	for _, i := range order {
		for n := p.blocks[i].keep(); n > 0 && !set(i, n); n-- {
		}
	}
	for grown := true; grown; {
		grown = false
		for _, i := range order {
			if rows[i] > 0 && rows[i] < p.blocks[i].most() && set(i, rows[i]+1) {
				grown = true
			}
		}
	}
	return out, rows
}

// keep returns the number of rows that a shortened page keeps of a block if it can.
func (b *Block) keep() int {
	if b.Section == nil {
		return 1
	}
	return min(max(1, b.Section.Keep), b.most())
}

// most returns the largest number of rows of a block in a shortened page.
func (b *Block) most() int {
	if b.Section == nil || b.Section.Most == 0 {
		return b.rows()
	}
	return min(b.Section.Most, b.rows())
}

// leftOut names the sections without rows, each title once.
func (p *Page) leftOut(rows []int, o Options) []line {
	var names []string
	texts, counts := 0, map[string]int{}
	for i, b := range p.blocks {
		switch {
		case rows[i] > 0:
		case b.Section == nil:
			texts++
		default:
			name, _, _ := strings.Cut(b.Section.Title, ":")
			name, _, _ = strings.Cut(name, " (")
			name, _, _ = strings.Cut(name, ", ")
			if counts[name] == 0 {
				names = append(names, name)
			}
			counts[name] += b.Section.Grid.Len()
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	if texts > 0 {
		names = append(names, fmt.Sprintf("%d lines of text", texts))
	}
	text := "Shortened: -o wide shows everything."
	if len(names) > 0 {
		text = "Shortened: -o wide shows everything, also " + strings.Join(names, ", ") + "."
	}
	return append([]line{{}}, styled(Plain, fold(text, false, o))...)
}
