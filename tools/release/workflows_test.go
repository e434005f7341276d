package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Needs       string
	Permissions map[string]string
	Steps       []step
}

type step struct {
	Uses, Run string
	With      map[string]any
}

func readWorkflow(t *testing.T, file string) (w workflow, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return w, string(data)
}

// pinned matches an action of a commit, with its tag beside it.
var pinned = regexp.MustCompile(`uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`)

// TestWorkflows checks rules that keep tokens and secrets from code of others.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d workflows, error %v", len(files), err)
	}
	for _, file := range files {
		w, text := readWorkflow(t, file)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v, want contents: read", file, w.Permissions)
		}
		if uses := strings.Count(text, "uses: "); uses != len(pinned.FindAllString(text, -1)) {
			t.Errorf("%s: an action is not pinned to a commit with its tag as a comment", file)
		}
		for name, j := range w.Jobs {
			for _, s := range j.Steps {
				checkStep(t, file+": job "+name, s)
			}
		}
	}
}

func checkStep(t *testing.T, where string, s step) {
	t.Helper()
	if strings.Contains(s.Run, "${{ secrets.") || strings.Contains(s.Run, "${{ github.") {
		t.Errorf("%s: a script contains an expression (want env): %s", where, s.Run)
	}
	if regexp.MustCompile(`echo [^\n]*\$\(`).MatchString(s.Run) {
		t.Errorf("%s: echo hides that a command fails (assign its output first): %s", where, s.Run)
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
		t.Errorf("%s: the checkout keeps the token in the folder", where)
	}
	if strings.HasPrefix(s.Uses, "actions/setup-go@") && (s.With["go-version"] != "1.26.x" || s.With["check-latest"] != true) {
		t.Errorf("%s: want the latest patch release of Go 1.26, got %v", where, s.With)
	}
}

// TestReleaseWorkflow checks the order of the steps: tests run without permission to write, every file exists before
// it is signed, and the chart is published last.
func TestReleaseWorkflow(t *testing.T) {
	w, _ := readWorkflow(t, "../../.github/workflows/release.yml")
	checks, release := w.Jobs["check"], w.Jobs["release"]
	if len(checks.Permissions) != 0 || release.Needs != "check" {
		t.Errorf("job check has permissions %v; job release needs %q, want check", checks.Permissions, release.Needs)
	}
	expectOrder(t, checks, `version -tag "$GITHUB_REF_NAME"`, "make check", "make image-reproducible")
	expectOrder(t, release, "version -tag", "make -s image PUSH=", "make release-files", "FOLDER=bin/release-files",
		"gh release create", "make -s push-chart", `IMAGE="$chart"`)
	scripts := scripts(release)
	if strings.LastIndex(scripts, "push-chart") != strings.Index(scripts, "push-chart") {
		t.Error("the chart is pushed twice")
	}
}

// expectOrder checks that the scripts of a job contain the parts, one after another.
func expectOrder(t *testing.T, j job, parts ...string) {
	t.Helper()
	rest := scripts(j)
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("the scripts lack %q, or have it too early", part)
			return
		}
		rest = after
	}
}

func scripts(j job) string {
	var all []string
	for _, s := range j.Steps {
		all = append(all, s.Run)
	}
	return strings.Join(all, "\n")
}
