package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/report/layout"
)

// moves returns a page with a table of n moves and a long paragraph.
func moves(n int, name string) *layout.Page {
	p := &layout.Page{}
	p.AddText(layout.Paragraph{Text: "Plan: " + strings.Repeat("many words ", 30), Style: layout.Green, Most: 2})
	g := layout.NewGrid(">STEP", "*POD", "TO", "~REASON")
	benefit := make([]int, n)
	for i := range n {
		g.Add(fmt.Sprint(i+1), fmt.Sprintf("shop/%s-%d", name, i), "node-1", strings.Repeat("the node is full ", 8)+"(NodeOverUtilized)")
		benefit[i] = n - 1 - i
	}
	p.AddSection(layout.Section{Title: "Moves", Picked: "with the largest benefit", Grid: g, Order: benefit, Most: 10, Notes: []string{"a note"}})
	return p
}

func TestAllIsShownIfItFits(t *testing.T) {
	lines := moves(3, "web").Lines(layout.Options{Width: 80, Height: 60})
	text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	for _, want := range []string{strings.TrimSpace(strings.Repeat("many words ", 30)), "shop/web-0", "shop/web-2", "(NodeOverUtilized)", "a note"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	for _, l := range lines {
		if layout.Width(l) > 80 {
			t.Errorf("a line has %d columns: %s", layout.Width(l), l)
		}
	}
}

// TestShortenedSectionShowsTheMostImportantRows checks which rows stay, in which order, and that the others are
// counted.
func TestShortenedSectionShowsTheMostImportantRows(t *testing.T) {
	lines := moves(100, "web").Lines(layout.Options{Width: 120, Height: 30})
	if len(lines) > 30 {
		t.Errorf("%d lines, want at most 30", len(lines))
	}
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Moves") })
	if i < 0 || lines[i] != "Moves (10 of 100 with the largest benefit)" {
		t.Fatalf("no title of a shortened section in:\n%s", strings.Join(lines, "\n"))
	}
	first, last := strings.Fields(lines[i+2]), strings.Fields(lines[i+11])
	if first[0] != "91" || last[0] != "100" || lines[i+12] != "  ... and 90 more: -o wide" || lines[i+13] != "  a note" {
		t.Errorf("the section is\n%s", strings.Join(lines[i:], "\n"))
	}
	if !strings.HasSuffix(lines[i+2], "... (NodeOverUtilized)") {
		t.Errorf("the reason lost its code: %s", lines[i+2])
	}
}

// TestNamesStayWhole checks that a name is never broken or cut, however narrow the terminal is.
func TestNamesStayWhole(t *testing.T) {
	name := strings.Repeat("very-long-name-", 10)
	for _, n := range []int{3, 100} {
		for _, width := range []int{40, 80, 120, 200} {
			o := layout.Options{Width: width, Height: 60}
			lines, height := moves(n, name).Lines(o), 0
			for _, l := range lines {
				height += max(1, (layout.Width(l)+width-1)/width)
			}
			if height > 60 {
				t.Errorf("%d moves, width %d: the terminal shows %d lines, want at most 60", n, width, height)
			}
			if !strings.Contains(strings.Join(lines, "\n"), "shop/"+name+fmt.Sprint("-", n-1)) {
				t.Errorf("%d moves, width %d: the name of the pod is not whole", n, width)
			}
		}
	}
}

// TestSectionsWithoutRoomAreNamed checks that the last line names sections that are left out.
func TestSectionsWithoutRoomAreNamed(t *testing.T) {
	p := &layout.Page{}
	for i := range 20 {
		g := layout.NewGrid("NAME")
		for range 5 {
			g.Add("x")
		}
		p.AddSection(layout.Section{Title: fmt.Sprintf("Section %d, and more about it", i), Grid: g, Rank: 20 - i})
	}
	lines := p.Lines(layout.Options{Width: 400, Height: 20})
	last := lines[len(lines)-1]
	if len(lines) > 20 || !strings.HasPrefix(last, "Shortened: -o wide shows everything, also Section 0 (5), Section 1 (5)") {
		t.Errorf("%d lines, the last one is %q", len(lines), last)
	}
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Section 19, and more about it (") }) {
		t.Errorf("the most important section is missing in:\n%s", strings.Join(lines, "\n"))
	}
}

// TestEndNamesEverySection checks that a narrow terminal shows the name of each section that is left out, a name once.
func TestEndNamesEverySection(t *testing.T) {
	p, want := &layout.Page{}, []string{"Moves (40)"}
	for i := range 20 {
		g := layout.NewGrid("NAME")
		for range 20 {
			g.Add("x")
		}
		name := fmt.Sprintf("Section-%d", i)
		if i > 17 {
			name = "Moves"
		} else if i > 5 {
			want = append(want, name+" (20)")
		}
		p.AddSection(layout.Section{Title: name, Grid: g, Keep: 4, Rank: i})
	}
	lines := p.Lines(layout.Options{Width: 40, Height: 60})
	text := strings.Join(lines, " ")
	for _, name := range want {
		if !strings.Contains(text, name) {
			t.Errorf("%s is missing in:\n%s", name, strings.Join(lines, "\n"))
		}
	}
	if len(lines) > 60 || slices.ContainsFunc(lines, func(l string) bool { return layout.Width(l) > 40 }) {
		t.Errorf("%d lines, want at most 60 with at most 40 columns:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "ü": 1, "u\u0308": 1, "日本": 4, "ｗ": 2, "\U0001F600": 2} {
		if got := layout.Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

// TestWideCharactersAreAligned checks that a column after wide characters starts at the same place in all rows.
func TestWideCharactersAreAligned(t *testing.T) {
	p, g := &layout.Page{}, layout.NewGrid("NAME", "NODE")
	g.Add("日本", "n1")
	g.Add("e\u0301a", "n2")
	p.AddSection(layout.Section{Title: "T", Grid: g})
	got := strings.Join(p.Lines(layout.Options{}), "\n")
	if want := "\nT\n  NAME  NODE\n  日本  n1\n  e\u0301a    n2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNeededColumnsStay checks that a brief form keeps needed columns below their rows if they have no room.
func TestNeededColumnsStay(t *testing.T) {
	p, long := &layout.Page{}, strings.Repeat("very-long-name-", 4)
	g := layout.NewGrid(">STEP", "*POD", "!FROM", "!TO", ">COST")
	for i := range 100 {
		g.Add(fmt.Sprint(i), "shop/"+long, "from-"+long, "to-"+long, "1.5")
	}
	p.AddSection(layout.Section{Title: "Moves", Grid: g, Keep: 10, Most: 10})
	lines := p.Lines(layout.Options{Width: 80, Height: 60})
	text := strings.Join(lines, "\n")
	if n := strings.Count(text, "FROM: from-"+long); n != 10 || strings.Count(text, "TO: to-"+long) != 10 || strings.Contains(text, "1.5") {
		t.Errorf("%d of 10 moves say from where:\n%s", n, text)
	}
	if len(lines) > 60 {
		t.Errorf("%d lines, want at most 60", len(lines))
	}
}
