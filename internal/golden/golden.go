// Package golden compares what tests get with files under testdata, and rewrites
// the files when the tests are run with -update.
//
// It is for tests alone. It decides nothing about what is right: whoever rewrites
// a file reads the difference first.
package golden

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// Update reports whether files are to be rewritten, for tests that keep theirs in
// a form of their own.
func Update() bool { return *update }

// Equal wants the file to hold exactly what was got.
func Equal(t testing.TB, path string, got []byte) {
	t.Helper()
	if Update() {
		Write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; go test with -update rewrites it (-want +got)\n%s", path, d)
	}
}

// EqualLines wants the file to hold the lines, sorted and each once.
func EqualLines(t testing.TB, path string, lines []string) {
	t.Helper()
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	Equal(t, path, []byte(strings.Join(lines, "\n")+"\n"))
}

// Write rewrites a file.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
