package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Permissions map[string]string
	Jobs        map[string]job
}

type job struct {
	Needs       needs
	Uses        string
	Permissions map[string]string
	Env         map[string]string
	Steps       []step
}

type step struct {
	Name, Uses, Run string
	With            map[string]any
	Env             map[string]string
}

// needs are the names of the jobs that a job waits for: one, or a list.
type needs []string

func (n *needs) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*n = needs{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(n))
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

var (
	// pinned matches an action of a commit, with its tag beside it, or a workflow of the repository.
	pinned = regexp.MustCompile(`uses: (?:[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/[a-z]+\.yml)\n`)
	// fromOutside matches an expression whose value others choose, or that is secret, anywhere in an expression.
	fromOutside = regexp.MustCompile(`(?i)\$\{\{(?:[^}]|\}[^}])*\b(?:secrets|github|inputs|steps|needs)\b`)
	// hidesFailure matches an echo whose argument is a command.
	hidesFailure = regexp.MustCompile(`echo [^\n]*\$\(`)
)

// jobPermissions are the permissions of jobs that do more than read. Other jobs have those of their workflow.
var jobPermissions = map[string]map[string]string{"release.yml release": {"contents": "write", "packages": "write"}}

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
			if !maps.Equal(j.Permissions, jobPermissions[filepath.Base(file)+" "+name]) {
				t.Errorf("%s: job %s has permissions %v", file, name, j.Permissions)
			}
			for _, s := range j.Steps {
				checkStep(t, file+": job "+name, s)
			}
		}
	}
}

func checkStep(t *testing.T, where string, s step) {
	t.Helper()
	if fromOutside.MatchString(s.Run) {
		t.Errorf("%s: a script contains an expression (want env): %s", where, s.Run)
	}
	if hidesFailure.MatchString(s.Run) {
		t.Errorf("%s: echo hides that a command fails (assign its output first): %s", where, s.Run)
	}
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
		t.Errorf("%s: the checkout keeps the token in the folder", where)
	}
	if strings.HasPrefix(s.Uses, "actions/setup-go@") && (s.With["go-version"] != "1.26.x" || s.With["check-latest"] != true) {
		t.Errorf("%s: want the latest patch release of Go 1.26, got %v", where, s.With)
	}
}

// TestExpressionsInScripts checks the pattern itself.
func TestExpressionsInScripts(t *testing.T) {
	for script, want := range map[string]bool{
		"echo ${{ secrets.KEY }}": true, "echo ${{secrets.KEY}}": true, "echo ${{  github.head_ref}}": true, "${{ inputs.x }}": true,
		"${{ format('{0}', github.actor) }}": true, "${{ GitHub.ref }}": true,
		"make oracle-${{ matrix.version }}": false, `echo "$GITHUB_REF_NAME" ${github}`: false,
	} {
		if got := fromOutside.MatchString(script); got != want {
			t.Errorf("%s: matches %t, want %t", script, got, want)
		}
	}
}

// TestReleaseWorkflow checks what a release waits for, and the order of the steps: tests run without permission to
// write, the image has its signatures before its tag, and the release is published last.
func TestReleaseWorkflow(t *testing.T) {
	w, _ := readWorkflow(t, "../../.github/workflows/release.yml")
	release := w.Jobs["release"]
	if got := []string(release.Needs); !slices.Equal(got, []string{"check", "test", "kind", "commit"}) {
		t.Errorf("job release needs %v, want check, test, kind and commit", got)
	}
	for _, name := range []string{"check", "test", "kind"} {
		if got, want := w.Jobs[name].Uses, "./.github/workflows/"+name+".yml"; got != want {
			t.Errorf("job %s runs %q, want %s", name, got, want)
		}
		if _, text := readWorkflow(t, "../../.github/workflows/"+name+".yml"); !strings.Contains(text, "\n  workflow_call:") {
			t.Errorf("%s.yml cannot be called", name)
		}
	}
	expectOrder(t, scripts(w.Jobs["commit"]), `version -tag "$GITHUB_REF_NAME"`, "merge-base --is-ancestor HEAD origin/main", "make image-reproducible")
	expectOrder(t, scripts(release), "version -tag", "gh release list",
		`make release VERSION="$VERSION" PUSH="$REGISTRY" KEY="$RUNNER_TEMP/cosign.key" PUBLIC=evenkeel.pub`,
		"gh release create", "--draft ", "gh release upload", "--draft=false")
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(makefile), "\nrelease: ##")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	expectOrder(t, recipe, "version -tag", `image PUSH="$(PUSH)/evenkeel" UNTAGGED=yes`, "release-files IMAGE=", "sign IMAGE=", "FOLDER=$(BIN)/release-files",
		"tag -image", "push-chart", `sign IMAGE="$$chart"`)
	if steps := release.Steps; !strings.Contains(steps[len(steps)-1].Run, "gh release edit") {
		t.Errorf("the last step is %q, want the publication", steps[len(steps)-1].Run)
	}
}

// expectOrder checks that scripts contain the parts, one after another.
func expectOrder(t *testing.T, rest string, parts ...string) {
	t.Helper()
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
