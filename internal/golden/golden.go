// Package golden compares results of tests with files under testdata. If the tests run with
// -update, it rewrites the files.
//
// Only tests use it. It cannot tell whether a new result is correct: review the diff before
// you commit it.
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

// Update reports whether the tests run with -update. Tests with their own file format use it.
func Update() bool { return *update }

// Equal fails the test if the content of the file differs from got.
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

// EqualLines fails the test if the file differs from the lines, sorted and without duplicates.
func EqualLines(t testing.TB, path string, lines []string) {
	t.Helper()
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	Equal(t, path, []byte(strings.Join(lines, "\n")+"\n"))
}

// Write replaces the content of a file.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
