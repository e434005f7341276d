package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

func runPromtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), promtool, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("promtool %v: %v\n%s", args, err, out)
	}
}

// TestRules runs promtool's unit tests. promtool compares annotations too, which would repeat their texts in the tests;
// so the test leaves them out.
func TestRules(t *testing.T) {
	dir := t.TempDir()
	copyFile(t, rulesFile, filepath.Join(dir, "full.yaml"), func(b []byte) []byte { return b })
	runPromtool(t, dir, "check", "rules", "--lint-fatal", "full.yaml")
	copyFile(t, rulesFile, filepath.Join(dir, "rules.yaml"), func(b []byte) []byte { return withoutAnnotations(t, b) })
	copyFile(t, "testdata/rules.test.yaml", filepath.Join(dir, "rules.test.yaml"), func(b []byte) []byte { return b })
	runPromtool(t, dir, "test", "rules", "rules.test.yaml")
}

// TestEveryAlertIsTestedBothWays checks that the unit tests make every alert fire, and keep it silent.
func TestEveryAlertIsTestedBothWays(t *testing.T) {
	var file struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string `json:"alertname"`
				ExpAlerts []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	data := must.Get(os.ReadFile("testdata/rules.test.yaml"))(t)
	must.Succeed(t, yaml.Unmarshal(data, &file))
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.AlertRuleTest {
			if len(c.ExpAlerts) > 0 {
				fires[c.Alertname] = true
			} else {
				silent[c.Alertname] = true
			}
		}
	}
	for _, a := range readAlerts(t) {
		if !fires[a.Alert] || !silent[a.Alert] {
			t.Errorf("alert %s: a test makes it fire: %v; a test keeps it silent: %v", a.Alert, fires[a.Alert], silent[a.Alert])
		}
	}
}

func copyFile(t *testing.T, from, to string, change func([]byte) []byte) {
	t.Helper()
	data := must.Get(os.ReadFile(from))(t)
	must.Succeed(t, os.WriteFile(to, change(data), 0o600))
}

func withoutAnnotations(t *testing.T, rules []byte) []byte {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string           `json:"name"`
			Rules []map[string]any `json:"rules"`
		} `json:"groups"`
	}
	must.Succeed(t, yaml.Unmarshal(rules, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			delete(r, "annotations")
		}
	}
	out := must.Get(yaml.Marshal(file))(t)
	return out
}
