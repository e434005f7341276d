package helm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parentChart returns the folder of a chart that depends on the chart and has these values.
func parentChart(t *testing.T, values string) string {
	t.Helper()
	parent := t.TempDir()
	if err := os.CopyFS(filepath.Join(parent, "charts", "evenkeel"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	const about = "apiVersion: v2\nname: platform\nversion: 1.0.0\n" +
		"dependencies: [{name: evenkeel, version: \">=0\", condition: evenkeel.enabled}]\n"
	for name, text := range map[string]string{"Chart.yaml": about, "values.yaml": values} {
		if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return parent
}

// TestParentChart checks that a parent chart can switch the chart on and off with a condition.
func TestParentChart(t *testing.T) {
	parent := parentChart(t, "")
	for values, want := range map[string]bool{"": true, ",evenkeel.enabled=true": true, ",evenkeel.enabled=false": false} {
		out, errs, err := runHelm(t, "template", "ek", parent, "--set", "evenkeel.image.repository=registry.example.org/team/evenkeel"+values)
		if err != nil {
			t.Errorf("%q: %v: %s", values, err, errs)
		} else if got := strings.Contains(out, "kind: Deployment"); got != want {
			t.Errorf("%q: the parent chart installs Evenkeel: %t, want %t", values, got, want)
		}
	}
}
