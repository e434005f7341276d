// Package golden compares results of tests with files under testdata. If the tests run with
// -update, it rewrites the files.
//
// Only tests use this package. Review the diff of rewritten files before you commit them.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// Update reports whether the tests run with -update. Tests with their own file format use it.
func Update() bool { return *update }

// Equal fails the test if the content of the file differs from got.
func Equal(t testing.TB, path string, got []byte) {
	t.Helper()
	if Update() {
		Write(t, path, got)
		return
	}
	want := must.Get(os.ReadFile(path))(t)
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; go test with -update rewrites it (-want +got)\n%s", path, d)
	}
}

// EqualLines fails the test if the file differs from the lines, sorted and without duplicates.
func EqualLines(t testing.TB, path string, lines []string) {
	t.Helper()
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	Equal(t, path, []byte(strings.Join(lines, "\n")+"\n"))
}

// Table compares a table in a Markdown file with rows. The first row is the heading, which must occur once in the file.
func Table(t testing.TB, path string, rows [][]string) {
	t.Helper()
	page := must.Get(os.ReadFile(path))(t)
	var table strings.Builder
	for i, cells := range rows {
		table.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			table.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	heading, _, _ := strings.Cut(table.String(), "\n")
	before, rest, found := strings.Cut(string(page), heading+"\n")
	if !found || strings.Contains(rest, heading+"\n") {
		t.Fatalf("%s does not have the table %s once", path, heading)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	Equal(t, path, []byte(before+table.String()+rest))
}

// Write replaces the content of a file.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	must.Succeed(t, os.WriteFile(path, data, 0o644))
}

// Pairs runs f on each pair of files in a txtar archive: it passes the first file to f and compares the result with the
// second. With -update it rewrites the second files.
func Pairs(t *testing.T, archive string, f func(t *testing.T, given []byte) string) {
	t.Helper()
	a := must.Get(txtar.ParseFile(archive))(t)
	for i := 0; i+1 < len(a.Files); i += 2 {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar")+"/"+a.Files[i].Name, func(t *testing.T) {
			got, want := f(t, a.Files[i].Data), &a.Files[i+1].Data
			if Update() {
				*want = []byte(got)
			} else if d := cmp.Diff(string(*want), got); d != "" {
				t.Errorf("result differs (-want +got):\n%s", d)
			}
		})
	}
	if Update() {
		Write(t, archive, txtar.Format(a))
	}
}

// ErrorText returns the whole text of err. It fails the test if err is nil.
func ErrorText(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		t.Fatal("got no error, want one")
	}
	return err.Error() + "\n"
}
