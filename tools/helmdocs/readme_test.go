package helmdocs

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

const (
	root  = "../.."
	chart = root + "/charts/evenkeel"
	// base is how the README links to files of the repository, because a packaged chart has no others.
	base = "https://github.com/evenkeel-project/evenkeel/blob/main/"
)

// TestReadmeIsCurrent checks that `make helm-docs` would not change the README of the chart.
func TestReadmeIsCurrent(t *testing.T) {
	cmd := exec.Command("go", "tool", "helm-docs", "--chart-search-root", chart, "--sort-values-order", "file", "--dry-run")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	want, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm-docs: %v\n%s", err, errs.String())
	}
	have, err := os.ReadFile(chart + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(have), bytes.TrimSpace(want)) {
		t.Error("charts/evenkeel/README.md differs from README.md.gotmpl and the comments of values.yaml; run `make helm-docs`")
	}
}

var (
	relative = regexp.MustCompile(`\]\(([^)#h][^)]*)\)`)
	linked   = regexp.MustCompile(regexp.QuoteMeta(base) + `([-\w./]+)`)
)

// TestLinksOfTheChart checks that the links of the chart work once it is packaged, and lead to files of the repository.
func TestLinksOfTheChart(t *testing.T) {
	found := 0
	for _, name := range []string{"README.md", "Chart.yaml", "templates/NOTES.txt"} {
		text, err := os.ReadFile(chart + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range relative.FindAllSubmatch(text, -1) {
			t.Errorf("%s links to %s, which a packaged chart does not have (want %s...)", name, m[1], base)
		}
		for _, m := range linked.FindAllSubmatch(text, -1) {
			found++
			if _, err := os.Stat(root + "/" + string(m[1])); err != nil {
				t.Errorf("%s links to a file that is not there: %v", name, err)
			}
		}
	}
	if found < 10 {
		t.Errorf("found only %d links", found)
	}
}
