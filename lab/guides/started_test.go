package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

const startedPage = "../../docs/getting-started.md"

// block is a block of code of a page.
type block struct{ language, text string }

// readBlocks returns the sh and yaml blocks of a page in order.
func readBlocks(t *testing.T, page string) (blocks []block) {
	t.Helper()
	text := must.Get(os.ReadFile(page))(t)
	for _, m := range regexp.MustCompile("(?ms)^( *)```(sh|yaml)\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{m[2], strings.ReplaceAll("\n"+m[3], "\n"+m[1], "\n")[1:]})
	}
	return blocks
}

// startedStep is a block of commands of docs/getting-started.md.
type startedStep struct {
	begins string // how the commands begin
	run    func(t *testing.T, commands string)
}

// TestGettingStarted runs the commands of docs/getting-started.md as a reader with the lab does. It repeats a command
// where the page says that the reader must wait.
func TestGettingStarted(t *testing.T) {
	s := newShell(t, startLab(t), nil)
	values := "" // one.yaml
	var steps []startedStep
	steps = append(steps, s.firstReport(t)...)
	steps = append(steps, s.firstEvictions(&values)...)
	steps = append(steps, s.everyDay()...)
	steps = append(steps, s.goBack()...)
	for _, b := range readBlocks(t, startedPage) {
		if b.language == "yaml" {
			values = b.text
			continue
		}
		if len(steps) == 0 || !strings.HasPrefix(b.text, steps[0].begins) {
			t.Fatalf("the test does not know the commands\n%s", b.text)
		}
		steps[0].run(t, b.text)
		steps = steps[1:]
		if t.Failed() {
			t.FailNow()
		}
	}
	if len(steps) > 0 {
		t.Errorf("the page has no commands that begin with %q", steps[0].begins)
	}
}

// firstReport has the steps until the report of a dry run.
func (s *shell) firstReport(t *testing.T) []startedStep {
	t.Helper()
	makefile := string(must.Get(os.ReadFile("../../Makefile"))(t))
	return []startedStep{
		{"make lab", func(t *testing.T, commands string) { // `make test-guides` has made these targets
			for _, m := range regexp.MustCompile(`(?m)^make (\S+)`).FindAllStringSubmatch(commands, -1) {
				if !strings.Contains(makefile, "\n"+m[1]+":") {
					t.Errorf("the Makefile has no target %s", m[1])
				}
			}
		}},
		{"bin/lab up", func(*testing.T, string) {}}, // startLab has run it
		{"kubectl create namespace shop", s.expect("successfully rolled out")},
		{"helm install evenkeel", s.expect("Evenkeel 0.1.0 is installed as a dry run")},
		{"evenkeel plan", s.expect("Deployment shop/web would lose 3 of its 6 pods", "2 evictions meet 1 of 1 goals; lower bound 2")},
		{"evenkeel status", s.expect("Evenkeel (installed in namespace evenkeel)", "it leads")},
	}
}

// firstEvictions has the steps from one.yaml to the events of the evicted pods.
func (s *shell) firstEvictions(values *string) []startedStep {
	planID := ""
	return []startedStep{
		{"helm upgrade evenkeel", func(t *testing.T, commands string) {
			must.Succeed(t, os.WriteFile(filepath.Join(s.dir, "one.yaml"), []byte(*values), 0o600))
			s.expect("Evenkeel 0.1.0 is installed, and evicts pods")(t, commands)
		}},
		{"kubectl auth can-i", func(t *testing.T, commands string) {
			shop, other, _ := strings.Cut(commands, "\n")
			s.expect("yes")(t, shop)
			s.expect("no")(t, "! "+other) // for no, kubectl ends with 1
		}},
		{"evenkeel logs", func(t *testing.T, commands string) { s.retry(t, commands, "dryRun=false") }},
		{"evenkeel trigger zones", func(t *testing.T, commands string) {
			trigger, list, _ := strings.Cut(commands, "\n")
			s.retry(t, trigger, "runs strategy zones now")
			out := s.retry(t, list, "To approve: evenkeel approve")
			planID = regexp.MustCompile(`To approve: evenkeel approve (\S+)`).FindStringSubmatch(out)[1]
		}},
		{"evenkeel approve PLAN", func(t *testing.T, commands string) {
			s.expect("● 2 of 2 pods were evicted. 2 replacements landed as predicted.")(t, strings.Replace(commands, "PLAN", planID, 1))
		}},
		{"evenkeel history pod", s.expect("2 moves of all pods in the last", "EvictedForBalance")},
	}
}

// everyDay has the steps of pausing, explaining and monitoring.
func (s *shell) everyDay() []startedStep {
	return []startedStep{
		{"evenkeel pause", s.expect("evictions have been paused since", "release 42", "evictions are no longer paused")},
		{"evenkeel explain pod", func(t *testing.T, commands string) {
			names := strings.Fields(s.run(t, "kubectl get pods --namespace shop --output jsonpath='{.items[*].metadata.name}'"))
			if len(names) != 6 {
				t.Fatalf("namespace shop has the pods %v, want 6", names)
			}
			s.expect("It stays: no unmet goal needs this pod to leave (NotNeeded).")(t, strings.Replace(commands, "POD", names[0], 1))
		}},
		{"kubectl port-forward", func(t *testing.T, commands string) {
			forward, ask, _ := strings.Cut(commands, "\n")
			s.expect(`evenkeel_evictions_total{strategy="zones"} 2`)(t, forward+" > forward.log &\ntrap \"kill $!\" EXIT\n"+
				"until curl --silent --output /dev/null localhost:8080/livez; do sleep 0.2; done\n"+ask)
		}},
		{"helm upgrade evenkeel", func(t *testing.T, commands string) {
			s.expect(`no matches for kind "PodMonitor"`)(t, "! "+commands)
		}},
	}
}

// goBack has the steps to a dry run, and to a cluster without Evenkeel.
func (s *shell) goBack() []startedStep {
	return []startedStep{
		{"helm upgrade evenkeel", s.expect("Evenkeel 0.1.0 is installed as a dry run")},
		{"helm uninstall evenkeel", func(t *testing.T, commands string) {
			_, list, _ := strings.Cut(commands, "\n")
			s.expect(`release "evenkeel" uninstalled`, "kube-root-ca.crt")(t, commands)
			if out := s.run(t, list); strings.Contains(out, "evenkeel-") {
				t.Errorf("something is left:\n%s", out)
			}
		}},
	}
}

// expect returns a function that runs commands, and checks that their output has the texts.
func (s *shell) expect(texts ...string) func(*testing.T, string) {
	return func(t *testing.T, commands string) {
		t.Helper()
		wantText(texts...)(t, s.run(t, "exec 2>&1\n"+commands))
	}
}

// retry runs a command until its output has a text, and returns the output.
func (s *shell) retry(t *testing.T, command, want string) (out string) {
	t.Helper()
	eventually(t, "an output has "+want, func() (bool, error) {
		out = s.run(t, "{ "+command+"\n} 2>&1 || true") // the line break ends a comment
		return strings.Contains(out, want), nil
	})
	return out
}
