package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/lab/must"
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
	data := must.Get(os.ReadFile(rulesFile))(t)
	must.Succeed(t, yaml.Unmarshal(data, &file))
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no alert", rulesFile)
	}
	return out
}

// cluster is the label of all series of this Prometheus.
const cluster = "lab"

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
	data := must.Get(os.ReadFile(dashboardFile))(t)
	must.Succeed(t, json.Unmarshal(data, &board))
	variables := strings.NewReplacer("$cluster", cluster, "$namespace", namespace, "$job", "evenkeel")
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

// labelValues matches the query of a variable: the metric, its selected labels, and the label with the values.
var labelValues = regexp.MustCompile(`^label_values\(([a-z_]+)(?:\{(.+)\})?, *([a-z_]+)\)$`)

// dashboardVariables returns, for each variable that Grafana fills from Prometheus, the selector of the series with a
// value.
func dashboardVariables(t *testing.T, namespace string) map[string]string {
	t.Helper()
	var board struct {
		Templating struct {
			List []struct {
				Name  string `json:"name"`
				Type  string `json:"type"`
				Query any    `json:"query"`
			} `json:"list"`
		} `json:"templating"`
	}
	data := must.Get(os.ReadFile(dashboardFile))(t)
	must.Succeed(t, json.Unmarshal(data, &board))
	out := map[string]string{}
	for _, v := range board.Templating.List {
		if v.Type != "query" {
			continue
		}
		query, _ := v.Query.(string)
		m := labelValues.FindStringSubmatch(query)
		if m == nil {
			t.Errorf("variable %s: the test cannot evaluate %v", v.Name, v.Query)
			continue
		}
		out[v.Name] = m[1] + "{" + strings.Trim(strings.NewReplacer("$cluster", cluster, "$namespace", namespace).Replace(m[2])+`, `+m[3]+`!=""`, ", ") + "}"
	}
	return out
}
