package metrics

import (
	"os"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestAlertsSelectSeries checks that each selector of each alert matches a series of a program that has made a pass: a
// label or a value that does not exist would keep the alert silent.
func TestAlertsSelectSeries(t *testing.T) {
	families := must.Get(withEverything().Registry.Gather())(t)
	text := must.Get(os.ReadFile("../charts/evenkeel/files/rules.yaml"))(t)
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	must.Succeed(t, yaml.Unmarshal(text, &file))
	for _, rule := range file.Groups[0].Rules {
		expr := must.Get(parser.NewParser(parser.Options{}).ParseExpr(rule.Expr))(t)
		selectors := parser.ExtractSelectors(expr)
		if len(selectors) == 0 {
			t.Errorf("%s selects nothing", rule.Alert)
		}
		for _, s := range selectors {
			if !slices.ContainsFunc(families, func(f *dto.MetricFamily) bool {
				return slices.ContainsFunc(f.GetMetric(), func(m *dto.Metric) bool { return matches(s, f.GetName(), m) })
			}) {
				t.Errorf("%s: no series matches %v", rule.Alert, s)
			}
		}
	}
}

func matches(selector []*labels.Matcher, name string, series *dto.Metric) bool {
	values := map[string]string{model.MetricNameLabel: name}
	for _, l := range series.GetLabel() {
		values[l.GetName()] = l.GetValue()
	}
	return !slices.ContainsFunc(selector, func(m *labels.Matcher) bool { return !m.Matches(values[m.Name]) })
}
