package monitoring

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	rulesFile     = "../../charts/evenkeel/files/rules.yaml"
	dashboardFile = "../../charts/evenkeel/files/dashboard.json"
)

// alert is an alerting rule of the chart. The tests do not read its other fields.
type alert struct {
	Alert string `json:"alert"`
	Expr  string `json:"expr"`
}

func readAlerts(t *testing.T) (out []alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	data, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no alert", rulesFile)
	}
	return out
}

// dashboardQueries returns the queries of all panels, by panel, for the release in the given namespace.
func dashboardQueries(t *testing.T, namespace string) map[string][]string {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Type    string `json:"type"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	data, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$namespace", namespace, "$job", "evenkeel")
	out := map[string][]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			out[p.Title+" ("+p.Type+")"] = append(out[p.Title+" ("+p.Type+")"], variables.Replace(target.Expr))
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no query", dashboardFile)
	}
	return out
}
