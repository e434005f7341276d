package html

import "github.com/evenkeel-project/evenkeel/report/answers"

// Table is a list with a caption.
type Table struct {
	Caption answers.Text
	Hidden  bool // the caption repeats the heading above; only screen readers read it
	// Class adds to the form: sortable, fit, moves, causes.
	Class string
	// Filter adds fields that select rows.
	Filter bool
	Heads  []Head
	Rows   [][]Cell
}

// Head is the heading of a column.
type Head struct {
	Text  string
	Class string // r: numbers
	// Filter names what a reader can select rows by in this column; empty if nothing.
	Filter string
}

// Cell is a cell of a table.
type Cell struct {
	Text  string
	Class string // r: a number, why: a note
	Row   bool   // heads the row
	Name  bool   // Text names an object
	Code  string // follows the text
	// After is the value after the plan, if it differs from Text.
	After string
	// Same marks a value that the plan does not change.
	Same bool
	// Bar is the length of a bar, such as 12.5%. The cell has no text.
	Bar string
}

func textCell(s string) Cell        { return Cell{Text: s} }
func numberCell(s string) Cell      { return Cell{Text: s, Class: "r"} }
func countCell(n int) Cell          { return numberCell(number(n)) }
func nameCell(s string) Cell        { return Cell{Text: s, Name: true} }
func rowCell(s string) Cell         { return Cell{Text: s, Name: true, Row: true} }
func whyCell(s, code string) Cell   { return Cell{Text: s, Class: "why", Code: code} }
func barCell(v, top float64) Cell   { return Cell{Bar: share(part(v, top))} }
func heads(titles ...string) []Head { return addHeads(nil, titles...) }

// addHeads adds headings. Those that begin with ">" are of columns of numbers.
func addHeads(to []Head, titles ...string) []Head {
	for _, t := range titles {
		h := Head{Text: t}
		if t != "" && t[0] == '>' {
			h = Head{Text: t[1:], Class: "r"}
		}
		to = append(to, h)
	}
	return to
}

// changeCell shows a value now and after the plan, or one value if both read the same.
func changeCell(now, after string) Cell {
	if now == after {
		return Cell{Text: now, Class: "r", Same: true}
	}
	return Cell{Text: now, After: after, Class: "r"}
}

// Details is a part of a section that is closed at first.
type Details struct {
	Summary string
	Open    bool // without a press
	Tables  []Table
	Notes   []answers.Text
}
