package repository

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var printWords = flag.Bool("words", false, "print the words of each page")

// pageGroup is a part of the documentation with the most words that it may have.
type pageGroup struct {
	name string
	// begins lists how the paths of the pages begin. A page belongs to the first group that matches.
	begins   []string
	maxWords int
	// tables says which tables do not count.
	tables freeTables
}

// freeTables are the tables that do not count: none, tables of names (each row has a key, code, metric,
// flag or field), or all.
type freeTables int

const (
	noTables freeTables = iota
	tablesOfNames
	allTables
)

// pageGroups are the limits of the documentation. Generated pages count, except the pages of the commands.
var pageGroups = []pageGroup{
	{"README", []string{"README.md"}, 600, allTables},
	{"chart", []string{"charts/evenkeel/README.md"}, 800, tablesOfNames},
	{"reference", []string{"docs/reference/"}, 18_000, tablesOfNames},
	{"contributors", []string{"CONTRIBUTING.md", "docs/contributing/", "docs/architecture.md", "docs/adr/", "docs/benchmarks/"}, 10_000, noTables},
	{"operators", []string{"docs/", "deploy/README.md", "examples/README.md"}, 15_000, noTables},
}

var (
	fence    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	htmlTag  = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)
	imageAlt = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	ruler    = regexp.MustCompile(`^\|[-:| ]+\|$`)
	nameRow  = regexp.MustCompile("`|^\\| \\*\\*")
)

// TestWords counts the words outside code and pictures, so that the documentation stays short enough to be read. With
// -words it prints them by page.
func TestWords(t *testing.T) {
	total := make([]int, len(pageGroups))
	for _, page := range documentation(t) {
		if strings.HasPrefix(page, "docs/reference/cli/") {
			continue
		}
		at := slices.IndexFunc(pageGroups, func(g pageGroup) bool {
			return slices.ContainsFunc(g.begins, func(b string) bool { return strings.HasPrefix(page, b) })
		})
		if at < 0 {
			continue
		}
		prose, tables, names := countWords(readText(t, page))
		words := prose + [...]int{noTables: tables + names, tablesOfNames: tables, allTables: 0}[pageGroups[at].tables]
		total[at] += words
		if *printWords {
			t.Logf("%-12s %6d  %s (prose %d, tables %d, tables of names %d)", pageGroups[at].name, words, page, prose, tables, names)
		}
	}
	for i, g := range pageGroups {
		t.Logf("%-12s %6d of at most %d words", g.name, total[i], g.maxWords)
		if total[i] > g.maxWords {
			t.Errorf("the pages of %s have %d words, want at most %d: `make words` lists them by page", g.name, total[i], g.maxWords)
		}
	}
}

// countWords returns the words of a page outside code and pictures: of its prose, its tables, and its tables of names.
func countWords(text string) (prose, tables, names int) {
	for _, pattern := range []*regexp.Regexp{fence, htmlTag, imageAlt} {
		text = pattern.ReplaceAllString(text, "")
	}
	lines := strings.Split(text, "\n")
	for len(lines) > 0 {
		table := strings.HasPrefix(lines[0], "|")
		end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "|") != table })
		if end < 0 {
			end = len(lines)
		}
		n := 0
		for _, line := range lines[:end] {
			if !ruler.MatchString(line) {
				n += len(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '|' && table }))
			}
		}
		switch {
		case !table:
			prose += n
		case tableOfNames(lines[:end]):
			names += n
		default:
			tables += n
		}
		lines = lines[end:]
	}
	return prose, tables, names
}

// tableOfNames reports whether each row below the head of a table has a name in code, or is a heading of rows.
func tableOfNames(rows []string) bool {
	return len(rows) > 2 && !slices.ContainsFunc(rows[2:], func(row string) bool { return !nameRow.MatchString(row) })
}

func TestCountWords(t *testing.T) {
	for _, tc := range []struct {
		text                 string
		prose, tables, names int
	}{
		{"Two words.\n```sh\nnot these\n```\n<img alt=\"nor these\">\n![nor this](a.png)", 2, 0, 0},
		{"| key | meaning |\n|---|---|\n| `a` | one two |\n", 0, 0, 5},
		{"| what | meaning |\n|---|---|\n| `a` | one two |\n| b | three |\n", 0, 7, 0},
	} {
		if prose, tables, names := countWords(tc.text); prose != tc.prose || tables != tc.tables || names != tc.names {
			t.Errorf("countWords(%q) = %d, %d, %d, want %d, %d, %d", tc.text, prose, tables, names, tc.prose, tc.tables, tc.names)
		}
	}
}
