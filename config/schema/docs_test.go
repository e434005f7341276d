package schema_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// docRow is what a row of a table in docs/reference says about a key.
type docRow struct{ typ, standard, meaning string }

var (
	cellBorder = regexp.MustCompile(`\s+\|\s+`)
	markedText = regexp.MustCompile("`([^`]+)`")
	link       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	typeTitle  = regexp.MustCompile(`^## ([A-Z]\w+)$`)
)

// docRows returns the rows about keys: by path for keys of config.yaml, by TYPE.argument for arguments of strategies.
func docRows(t *testing.T) map[string]docRow {
	t.Helper()
	rows := map[string]docRow{}
	for _, line := range docLines(t, "config.md") {
		if cells := tableCells(line); len(cells) == 4 {
			for _, key := range markedText.FindAllStringSubmatch(cells[0], -1) {
				rows[key[1]] = docRow{cells[1], cells[2], cells[3]}
			}
		}
	}
	section, parent := "", ""
	for _, line := range docLines(t, "strategies.md") {
		if title := typeTitle.FindStringSubmatch(line); title != nil {
			section = title[1]
		}
		cells := tableCells(line)
		if len(cells) != 3 {
			continue
		}
		for _, key := range markedText.FindAllStringSubmatch(cells[0], -1) {
			path := section + "." + key[1]
			if strings.HasPrefix(cells[0], "...") { // a key of the elements of the list above
				path = parent + "[]." + key[1]
			} else {
				parent = path
			}
			rows[path] = docRow{"", cells[1], cells[2]}
		}
	}
	return rows
}

func docLines(t *testing.T, name string) []string {
	t.Helper()
	text := must.Get(os.ReadFile("../../docs/reference/" + name))(t)
	return strings.Split(string(text), "\n")
}

// tableCells returns the cells of a table's row with a key in its first cell, or nil.
func tableCells(line string) []string {
	if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| ... `") {
		return nil
	}
	return cellBorder.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), -1)
}

// plainText removes the links of a Markdown text, and unescapes it.
func plainText(markdown string) string {
	return strings.ReplaceAll(link.ReplaceAllString(markdown, "$1"), `\|`, "|")
}

// sameKey maps the path of a key to the path under which config.md describes it. The first prefix that matches is
// replaced.
var sameKey = [][2]string{
	{"windows.allow[].limits.", "limits."},
	{"windows.allow[].", "windows.*[]."},
	{"windows.deny[].", "windows.*[]."},
	{"strategies.*.limits.", "limits."},
	{"strategies.*.guards.", "guards."},
	{"strategies.*.namespaces.", "namespaces."},
}

// findRow returns the row about a key, and whether the key has one of its own. Other rows describe a key of the same
// meaning at another place, with another default.
func findRow(rows map[string]docRow, path string) (row docRow, own bool) {
	if row, own = rows[path]; own {
		return row, true
	}
	for _, s := range sameKey {
		if rest, ok := strings.CutPrefix(path, s[0]); ok {
			return rows[s[1]+rest], false
		}
	}
	return docRow{}, false
}
