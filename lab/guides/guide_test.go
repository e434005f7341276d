package guides

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const page = "../../docs/coming-from.md"

// step is a subsection of a guide with the commands of its sh blocks.
type step struct{ title, commands string }

// readSteps returns the subsections of a section that have commands, such as "## Descheduler".
func readSteps(t *testing.T, section string) (steps []step) {
	t.Helper()
	text := must.Get(os.ReadFile(page))(t)
	_, rest, found := strings.Cut("\n"+string(text), "\n"+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, section)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	title, inside := "", false
	for line := range strings.Lines(body) {
		switch trimmed := strings.TrimSpace(line); {
		case inside && trimmed == "```":
			inside = false
		case inside:
			steps[len(steps)-1].commands += line
		case trimmed == "```sh":
			inside = true
			if n := len(steps); n == 0 || steps[n-1].title != title {
				steps = append(steps, step{title: title})
			}
		case strings.HasPrefix(line, "### "):
			title = strings.TrimSpace(strings.TrimPrefix(line, "### "))
		}
	}
	return steps
}

// shell runs commands of a guide.
type shell struct {
	dir       string
	variables map[string]string // that replace the exported values of the guide
	env       []string
}

// newShell returns a shell whose folder has the charts, and whose path has evenkeel and helm. kubeconfig is the
// administrator's.
func newShell(t *testing.T, kubeconfig string, variables map[string]string) *shell {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	root := must.Get(filepath.Abs("../.."))(t)
	for link, target := range map[string]string{
		filepath.Join(dir, "charts"): filepath.Join(root, "charts"), filepath.Join(bin, "evenkeel"): absolute(t, testbed.Evenkeel),
		filepath.Join(bin, "helm"): absolute(t, os.Getenv("EVENKEEL_HELM")),
	} {
		must.Succeed(t, os.Symlink(target, link))
	}
	return &shell{dir: dir, variables: variables, env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"KUBECONFIG=" + kubeconfig}}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	out := must.Get(filepath.Abs(path))(t)
	return out
}

// run runs the commands, stops at the first that fails, and returns their standard output.
func (s *shell) run(t *testing.T, commands string) string {
	t.Helper()
	out, err := s.try(t, commands)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// try is run, but returns the failure.
func (s *shell) try(t *testing.T, commands string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	t.Logf("$ %s\n%s%s", strings.TrimSpace(commands), out.String(), errs.String())
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.TrimSpace(commands), err)
	}
	return out.String(), err
}

// export sets the variables of a block of export commands. The test has a value for each, because each stands for
// something of the reader's cluster.
func (s *shell) export(t *testing.T, commands string) {
	t.Helper()
	var names []string
	for line := range strings.Lines(commands) {
		name, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		value, known := s.variables[name]
		if !ok || !known {
			t.Errorf("the test has no value for %q", strings.TrimSpace(line))
		}
		names = append(names, name)
		s.env = append(s.env, name+"="+value)
	}
	if want := slices.Sorted(maps.Keys(s.variables)); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("the guide exports %v, want %v", names, want)
	}
}

// settings is the title of the step with export commands.
const settings = "Settings"

// action is what the test does for a step: before its commands, and with their output.
type action struct {
	title  string
	before func(t *testing.T)
	check  func(t *testing.T, out string)
}

// follow runs all steps of a section. Each must have an action, and each action a step.
func (s *shell) follow(t *testing.T, section string, actions []action) {
	t.Helper()
	steps := readSteps(t, section)
	var titles, want []string
	for _, st := range steps {
		titles = append(titles, st.title)
	}
	for _, a := range actions {
		want = append(want, a.title)
	}
	if want = append([]string{settings}, want...); !slices.Equal(titles, want) {
		t.Fatalf("the steps with commands are\n%s\nwant\n%s", strings.Join(titles, "\n"), strings.Join(want, "\n"))
	}
	s.export(t, steps[0].commands)
	for i, a := range actions {
		if a.before != nil {
			a.before(t)
		}
		out := s.run(t, steps[i+1].commands)
		if a.check != nil {
			a.check(t, out)
		}
		if t.Failed() {
			t.Fatalf("step %q failed", a.title)
		}
	}
}

// wantText returns a check that the output has each of the texts.
func wantText(texts ...string) func(*testing.T, string) {
	return func(t *testing.T, out string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(out, text) {
				t.Errorf("the output lacks %q", text)
			}
		}
	}
}

// and returns a check that does several.
func and(checks ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, out string) {
		t.Helper()
		for _, check := range checks {
			check(t, out)
		}
	}
}
