package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// noise is what helm prints beside the message: where in the templates it comes from, and advice about --debug.
var noise = regexp.MustCompile(`(?m)^(level=\S+ msg=.*|Use --debug flag .*)\n|execution error at \(\S+\): `)

// TestWrongValues renders each file of testdata/wrong-values, and compares the message of helm with the text beside it.
func TestWrongValues(t *testing.T) {
	const folder = "testdata/wrong-values"
	files, err := filepath.Glob(folder + "/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files in %s, want at least 20: %v", len(files), folder, err)
	}
	for _, file := range files {
		out, errs, err := runHelm(t, "template", "ek", chart, "--values", file)
		if err == nil {
			t.Errorf("helm accepts %s:\n%s", file, out)
			continue
		}
		got := strings.TrimSpace(sortSchemaErrors(noise.ReplaceAllString(errs, ""))) + "\n"
		golden := strings.TrimSuffix(file, ".yaml") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("%s: the message is\n%s\nwant\n%s%v", file, got, want, err)
		}
	}
}

// sortSchemaErrors sorts the errors about a schema, because Helm prints them in a random order.
func sortSchemaErrors(text string) string {
	lines := strings.SplitAfter(text, "\n")
	isError := func(line string) bool { return strings.HasPrefix(line, "- at ") }
	if from := slices.IndexFunc(lines, isError); from >= 0 {
		to := from
		for to < len(lines) && isError(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
	}
	return strings.Join(lines, "")
}
