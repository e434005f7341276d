package charts

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

const runbooks = "https://github.com/evenkeel-project/evenkeel/blob/main/docs/runbooks/"

// TestAlertsCanBeActedOn checks that each alert is valid PromQL and tells its reader what happened and what to do.
func TestAlertsCanBeActedOn(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	readFile(t, "evenkeel/files/rules.yaml", func(b []byte) error { return yaml.Unmarshal(b, &file) })
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			checkPromQL(t, r.Alert, r.Expr)
			if !slices.Contains([]string{"info", "warning", "critical"}, r.Labels["severity"]) {
				t.Errorf("%s has severity %q, want info, warning or critical", r.Alert, r.Labels["severity"])
			}
			if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s lacks a summary or a description", r.Alert)
			}
			if got, want := r.Annotations["runbook_url"], runbooks+r.Alert+".md"; got != want {
				t.Errorf("%s has runbook_url %q, want %q", r.Alert, got, want)
			}
			if _, err := os.Stat("../docs/runbooks/" + r.Alert + ".md"); err != nil {
				t.Errorf("%s has no runbook: %v", r.Alert, err)
			}
		}
	}
}

// TestDashboardQueriesParse checks that each query of the dashboard is valid PromQL.
func TestDashboardQueriesParse(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	readFile(t, "evenkeel/files/dashboard.json", func(b []byte) error { return json.Unmarshal(b, &board) })
	queries := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			checkPromQL(t, p.Title, strings.NewReplacer("$namespace", "n", "$job", "j").Replace(target.Expr))
			queries++
		}
	}
	if queries == 0 {
		t.Error("the dashboard has no query")
	}
}

func checkPromQL(t *testing.T, where, expr string) {
	t.Helper()
	if _, err := parser.NewParser(parser.Options{}).ParseExpr(expr); err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

func readFile(t *testing.T, path string, decode func([]byte) error) {
	t.Helper()
	data := must.Get(os.ReadFile(path))(t)
	if err := decode(data); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
