package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// toyModule changes into a module whose test notices every mutant but those of the function Untested.
func toyModule(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module toy\n\ngo 1.26\n",
		"toy/toy.go": `package toy

func Tested(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func Untested(ok bool) bool {
	return ok && true
}
`,
		"toy/toy_test.go": `package toy

import "testing"

func TestTested(t *testing.T) {
	if Tested(1, 2) != 2 || Tested(2, 1) != 2 {
		t.Error("wrong")
	}
}
`,
		"equivalent.txt": `# comment
toy/toy.go Tested operator: > -> >=
 The results are equal.
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func toyOptions() options {
	return options{areas: []Area{{Name: "toy", Files: []string{"toy/*.go"}}}, count: 100, jobs: 2,
		timeout: time.Minute, results: "results.jsonl", equivalent: "equivalent.txt"}
}

func TestMutantsOfAFile(t *testing.T) {
	toyModule(t)
	got, err := Mutants("toy/toy.go")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"toy/toy.go Tested never: a > b -> (a > b) && false",
		"toy/toy.go Tested always: a > b -> (a > b) || true",
		"toy/toy.go Tested operator: > -> >=",
		"toy/toy.go Untested operator: && -> ||",
	}
	for i, m := range got {
		if i >= len(want) || m.ID() != want[i] {
			t.Errorf("mutant %d is %q", i, m.ID())
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d mutants, want %d", len(got), len(want))
	}
}

func TestSurvivorsAreCounted(t *testing.T) {
	toyModule(t)
	for range 2 { // the second run reads the results of the first
		survivors, err := run(t.Context(), toyOptions())
		if err != nil {
			t.Fatal(err)
		}
		if survivors != 1 {
			t.Errorf("%d survivors, want 1: the operator of Untested", survivors)
		}
	}
	lines, err := readResults("results.jsonl")
	if err != nil || len(lines) != 4 {
		t.Errorf("%d results, want 4: %v", len(lines), err)
	}
}

func TestFailingTestsAreReported(t *testing.T) {
	toyModule(t)
	if err := os.WriteFile("toy/broken_test.go", []byte("package toy\n\nvar _ = missing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), toyOptions()); err == nil {
		t.Error("no error, although the tests fail without any change")
	}
}

// equalChanges is a function with two changes of the same text.
const equalChanges = "package toy\n\nfunc Equal(a, b bool) (bool, bool) {\n\treturn a && b, a && b\n}\n"

func TestEqualChangesAreNumbered(t *testing.T) {
	toyModule(t)
	if err := os.WriteFile("toy/toy.go", []byte(equalChanges), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Mutants("toy/toy.go")
	if err != nil {
		t.Fatal(err)
	}
	const id = "toy/toy.go Equal operator: && -> ||"
	if len(got) != 2 || got[0].ID() != id || got[1].ID() != id+" (number 2)" {
		t.Errorf("mutants %q", got)
	}
}

func TestChangesElsewhereKeepTheOrder(t *testing.T) {
	toyModule(t)
	areas := toyOptions().areas
	before, err := chooseMutants(areas, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("toy/another.go", []byte(equalChanges), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := chooseMutants(areas, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	after = slices.DeleteFunc(after, func(c candidate) bool { return c.File == "toy/another.go" })
	if !slices.EqualFunc(before, after, func(a, b candidate) bool { return a.ID() == b.ID() }) {
		t.Errorf("order %v after %v", after, before)
	}
}
