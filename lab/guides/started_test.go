package guides

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const startedPage = "../../docs/getting-started.md"

// block is a block of code of a page.
type block struct{ language, text string }

// readBlocks returns the sh and yaml blocks of a page in order.
func readBlocks(t *testing.T, page string) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```(sh|yaml)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return blocks
}

// TestGettingStarted runs the commands of docs/getting-started.md as a reader with the lab does. It waits where the page
// says that the reader must repeat a command.
func TestGettingStarted(t *testing.T) {
	s := newShell(t, lab.Kubeconfig, nil)
	s.env = append(s.env, "IMAGE=lab/evenkeel")
	t.Cleanup(func() { deleteNamespace(t, "shop") })
	t.Cleanup(func() { uncordon(t) })
	var values, planID string
	steps := []struct {
		begins string // of the commands
		run    func(t *testing.T, commands string)
	}{
		{"kubectl create namespace shop", s.expect("")},
		{"helm install evenkeel", s.expect("Evenkeel 0.1.0 is installed as a DRY RUN")},
		{"evenkeel plan", s.expect("PodTooYoung")},
		{"kubectl logs", s.expect("")},
		{"helm upgrade evenkeel", func(t *testing.T, commands string) {
			if err := os.WriteFile(filepath.Join(s.dir, "one.yaml"), []byte(values), 0o600); err != nil {
				t.Fatal(err)
			}
			s.expect("Evenkeel 0.1.0 is installed and EVICTS pods")(t, commands)
		}},
		{"kubectl auth can-i", func(t *testing.T, commands string) {
			yes, no, _ := strings.Cut(commands, "\n")
			s.expect("yes")(t, yes)
			s.expect("no")(t, no+" || true") // kubectl ends with 1
		}},
		{"evenkeel trigger zones", func(t *testing.T, commands string) {
			first, second, _ := strings.Cut(commands, "\n")
			s.retry(t, first, "runs strategy zones now")
			out := s.retry(t, second, "To approve: evenkeel approve")
			planID = regexp.MustCompile(`(?m)^Plan ([0-9a-f]+)`).FindStringSubmatch(out)[1]
		}},
		{"evenkeel approve PLAN", func(t *testing.T, commands string) {
			s.expect("Approved 2 of 2 steps of plan")(t, strings.Replace(commands, "PLAN", planID, 1))
		}},
		{"kubectl get events", s.expect("EvictedForBalance")},
		{"evenkeel pause", s.expect("evictions are paused since", "evictions are no longer paused")},
		{"evenkeel explain pod", func(t *testing.T, commands string) {
			pods, err := lab.Client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(pods.Items) == 0 {
				t.Fatalf("%d pods in shop: %v", len(pods.Items), err)
			}
			s.expect("It stays:")(t, strings.Replace(commands, "POD", pods.Items[0].Name, 1))
		}},
		{"kubectl port-forward", func(t *testing.T, commands string) {
			forward, ask, _ := strings.Cut(commands, "\n")
			s.expect(`evenkeel_evictions_total{strategy="zones"} 2`)(t, forward+" > /dev/null &\ntrap 'kill %1' EXIT\n"+
				"until curl -s -o /dev/null localhost:8080/livez; do sleep 0.2; done\n"+ask)
		}},
		{"helm upgrade evenkeel", func(t *testing.T, commands string) {
			s.expect(`no matches for kind "PodMonitor"`)(t, "! "+commands)
		}},
		{"helm upgrade evenkeel", s.expect("Evenkeel 0.1.0 is installed as a DRY RUN")},
		{"helm uninstall evenkeel", func(t *testing.T, commands string) {
			if out := s.run(t, commands); !strings.Contains(out, "kube-root-ca.crt") || strings.Contains(out, "evenkeel-") {
				t.Errorf("something is left:\n%s", out)
			}
		}},
	}
	for _, b := range readBlocks(t, startedPage) {
		if b.language == "yaml" {
			values += b.text
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
	deleteNamespace(t, namespace)
}

// expect returns a function that runs commands, and checks that the output has the texts.
func (s *shell) expect(texts ...string) func(*testing.T, string) {
	return func(t *testing.T, commands string) {
		t.Helper()
		wantText(texts...)(t, s.run(t, "exec 2>&1\n"+commands))
	}
}

// retry runs a command until its output has a text, and returns the output.
func (s *shell) retry(t *testing.T, command, want string) (out string) {
	t.Helper()
	err := seed.WaitUntil(t.Context(), 5*time.Minute, func() (bool, error) {
		out = s.run(t, "{ "+strings.TrimSpace(command)+"; } 2>&1 || true")
		return strings.Contains(out, want), nil
	})
	if err != nil {
		t.Fatalf("%s: %v, want %q in\n%s", command, err, want, out)
	}
	return out
}

// uncordon removes the marks that the commands may leave if the test fails.
func uncordon(t *testing.T) {
	t.Helper()
	for _, n := range []string{"n1", "n2", "n3"} {
		patch := []byte(`{"spec":{"unschedulable":null}}`)
		if _, err := lab.Client.CoreV1().Nodes().Patch(context.Background(), n, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Errorf("uncordoning %s: %v", n, err)
		}
	}
}
