package html

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

// Document is a report of sentences and tables: an explanation or a history.
type Document struct {
	Pill     string
	Meta     []answers.Text
	Headline answers.Text
	Facts    []answers.Text
	Passes   *Passes // nil without a chart
	Sections []Section
	// Parts are documents about parts of the subject, such as the pods of a node. They are closed at first.
	Parts []Part
	// More counts the parts that are left out.
	More int
}

// Part is a document within another one.
type Part struct {
	Summary  string
	Facts    []answers.Text
	Sections []Section
}

// maxParts is the number of parts that a document has.
const maxParts = 100

// WriteDocument writes a document as one HTML file.
func WriteDocument(w io.Writer, d *Document) error {
	if n := len(d.Parts); n > maxParts {
		d.Parts, d.More = d.Parts[:maxParts], n-maxParts
	}
	p := page{Title: "Evenkeel: " + d.Headline.String(), Pill: d.Pill, Meta: d.Meta, Document: d,
		Footer: text("Made by Evenkeel. This file makes no network request.")}
	for _, s := range d.Sections {
		p.Nav = append(p.Nav, link{s.ID, shortTitle(s.Title)})
	}
	if len(d.Parts) > 0 {
		p.Nav = append(p.Nav, link{"parts", "Pod by pod"})
	}
	return p.write(w)
}

// shortTitle leaves out what follows a comma or a parenthesis.
func shortTitle(title string) string {
	if i := strings.IndexAny(title, ",("); i > 0 {
		return strings.TrimSpace(title[:i])
	}
	return title
}

// Convert turns a page of text into sentences and sections. Paragraphs after a section become its notes.
func Convert(p *layout.Page) (facts []answers.Text, sections []Section) {
	for _, b := range p.Blocks() {
		switch n := len(sections); {
		case b.Section != nil:
			sections = append(sections, convertSection(b.Section, n+1))
		case b.Text == "":
		case n == 0:
			facts = append(facts, text(b.Text))
		default:
			sections[n-1].Notes = append(sections[n-1].Notes, text(b.Text))
		}
	}
	return facts, sections
}

func convertSection(of *layout.Section, n int) Section {
	s := Section{ID: fmt.Sprintf("part-%d", n)}
	title, rest, _ := strings.Cut(strings.ReplaceAll(of.Title, "->", "→"), ": ")
	if rest != "" {
		s.Lead = text(sentence(rest) + ".")
	}
	s.Title = title
	t, quiet := convertGrid(of.Grid)
	t.Caption, t.Hidden = text(title), true
	if len(t.Rows) > 0 {
		s.Tables = []Table{t}
	}
	if len(quiet.Rows) > 0 {
		quiet.Caption, quiet.Hidden = text(title+" that allow the eviction"), true
		n := len(quiet.Rows)
		s.Details = []Details{{Summary: number(n) + " that " + verb(n, "allows", "allow") + " the eviction", Tables: []Table{quiet}}}
		if len(s.Tables) == 0 && s.Lead == nil {
			s.Lead = text("None of them forbids the eviction.")
		}
	}
	for _, note := range of.Notes {
		s.Notes = append(s.Notes, text(note))
	}
	if of.Hidden > 0 {
		s.Notes = append(s.Notes, text(number(of.Hidden)+" more are not listed. ", code("-o wide"), " lists them."))
	}
	return s
}

// nameHeads are the headings of columns of names.
var nameHeads = map[string]bool{"POD": true, "NODE": true, "ZONE": true, "FROM": true, "PREDICTED": true, "LANDED": true, "REPLACEMENT": true, "STRATEGY": true,
	"PLAN": true, "TIME": true, "SCORE": true}

// filterHeads say what a reader can select rows by.
var filterHeads = map[string]string{"POD": "Namespace or pod", "NODE": "Node", "FROM": "Node", "LANDED": "Node", "STRATEGY": "Strategy", "STRATEGIES": "Strategy"}

// minFiltered is the number of rows from which a table has a filter.
const minFiltered = 20

// convertGrid turns a grid into a table, and rules that allow an eviction without a message into a second one.
func convertGrid(g *layout.Grid) (t, quiet Table) {
	c := g.Cells()
	t.Class = "sortable"
	for i, h := range c.Heads {
		head := Head{Text: headText(h), Filter: filterHeads[h]}
		if c.Right[i] {
			head.Class = "r"
		}
		t.Heads = append(t.Heads, head)
		if h == "PROBABILITY" {
			t.Class = "sortable bars"
			t.Heads = append(t.Heads, Head{})
		}
	}
	rules := len(c.Heads) == 3 && c.Heads[0] == "ALLOWS"
	if rules {
		t.Class = "fit"
	}
	quiet.Class, quiet.Heads = t.Class, t.Heads
	t.Filter = len(c.Rows) >= minFiltered
	for _, cells := range c.Rows {
		row := convertRow(&c, cells)
		if rules && cells[0] == "yes" {
			quiet.Rows = append(quiet.Rows, row)
		} else {
			t.Rows = append(t.Rows, row)
		}
	}
	return t, quiet
}

// headText writes a heading in lower case, apart from its first letter and CPU.
func headText(h string) string {
	return strings.ReplaceAll(sentence(strings.ReplaceAll(strings.ToLower(h), "cpu", "CPU")), "->", "→")
}

func convertRow(c *layout.Cells, cells []string) (row []Cell) {
	for i, v := range cells {
		cell := Cell{Text: v, Row: i == c.Key, Name: nameHeads[c.Heads[i]] && v != "-"}
		switch h := c.Heads[i]; {
		case v == "-":
			cell.Text = "–"
		case h == "CODE":
			cell.Text, cell.Code = "", v
		case v == "NO":
			cell.Text = "no"
		case h == "SCORE":
			cell.Text = strings.ReplaceAll(v, "->", "→")
		}
		if c.Right[i] {
			cell.Class = "r"
		}
		row = append(row, cell)
		if c.Heads[i] == "PROBABILITY" {
			row = append(row, Cell{Bar: probabilityBar(v), Class: "fa"})
		}
	}
	return row
}

// probabilityBar returns the length of a bar for a share such as 12.5% or <0.1%.
func probabilityBar(text string) string {
	v, err := strconv.ParseFloat(strings.Trim(text, "<>%"), 64)
	if err != nil {
		return share(0)
	}
	return share(v / 100)
}
