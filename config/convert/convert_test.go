package convert_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
)

// TestToConfig converts files, and compares each result or error with the golden file. Each result must be a valid
// configuration.
func TestToConfig(t *testing.T) {
	golden.Pairs(t, "testdata/rules_to_config.txtar", func(t *testing.T, given []byte) string {
		o := convert.Options{PrometheusURL: "http://prometheus:9090", NodeLabel: config.Default().Load.Prometheus.NodeLabel}
		got, err := convert.ToConfig("dir/rule.yaml", given, o)
		if err != nil {
			return err.Error() + "\n"
		}
		if _, err := config.Load("converted", []byte(got)); err != nil {
			t.Errorf("the converted configuration is not valid: %v\n%s", err, got)
		}
		return got
	})
}

// TestUpdate converts earlier formats, and compares each result with its notes, or the error, with the golden file.
// Each result must be a valid configuration. The files remove each removed key with its default once, and move each
// moved key.
func TestUpdate(t *testing.T) {
	var all strings.Builder
	golden.Pairs(t, "testdata/update.txtar", func(t *testing.T, given []byte) string {
		if !convert.IsConfig(given) {
			t.Error("IsConfig does not recognize the file")
		}
		got, notes, err := convert.Update("values.yaml", given)
		if err != nil {
			return err.Error() + "\n"
		}
		var values struct{ Config, Evenkeel map[string]any }
		must.Succeed(t, yaml.Unmarshal([]byte(got), &values))
		c := []byte(got)
		if inner, nested := values.Evenkeel["config"].(map[string]any); nested {
			values.Config = inner
		}
		if values.Config != nil {
			values.Config["apiVersion"], values.Config["kind"] = config.Version, config.Kind
			c = must.Get(yaml.Marshal(values.Config))(t)
		}
		if _, err := config.Load("config.yaml", c); err != nil {
			t.Errorf("the result is not valid: %v", err)
		}
		for _, note := range notes {
			got += "note: " + note + "\n"
			all.WriteString("note: " + note + "\n")
		}
		return got
	})
	for _, k := range convert.RemovedKeys {
		if want := "note: " + k[0] + ": removed; its value was the default, " + k[1] + "\n"; !strings.Contains(all.String(), want) {
			t.Errorf("no file has %s with its default, %s", k[0], k[1])
		}
	}
	for _, k := range convert.MovedKeys {
		if !strings.Contains(all.String(), "note: "+k[0]+": now "+k[1]+": ") {
			t.Errorf("no file moves %s", k[0])
		}
	}
}

// TestListsOfScenarios writes the strategies of each scenario as a list, and converts the list. The strategies must be
// the same in the same order, so the plan is the same.
func TestListsOfScenarios(t *testing.T) {
	for _, s := range scenario.All(t) {
		want := must.Get(config.Load("config.yaml", s.Config))(t)
		if len(want.Strategies) < 2 {
			continue
		}
		var file map[string]any
		must.Succeed(t, yaml.Unmarshal(s.Config, &file))
		var list []any
		for _, st := range want.Strategies {
			item := file["strategies"].(map[string]any)[st.Name].(map[string]any)
			item["name"] = st.Name
			delete(item, "order")
			list = append(list, item)
		}
		file["strategies"] = list
		converted, _, err := convert.Update(s.Name, must.Get(yaml.Marshal(file))(t))
		must.Succeed(t, err)
		got := must.Get(config.Load(s.Name, []byte(converted)))(t)
		for _, c := range []*config.Config{want, got} {
			for i := range c.Strategies {
				c.Strategies[i].Order = i
			}
		}
		if got.PlanHash() != want.PlanHash() {
			t.Errorf("%s: the strategies differ:\n%s", s.Name, converted)
		}
	}
}

// TestPolicyMistakes reads a Policy with each mistake, and compares the complete error.
func TestPolicyMistakes(t *testing.T) {
	golden.Pairs(t, "testdata/policy.txtar", func(t *testing.T, given []byte) string {
		_, err := convert.LoadLegacyPolicy("policy.json", given)
		return golden.ErrorText(t, err)
	})
}

func FuzzLoadPolicy(f *testing.F) {
	f.Add([]byte("kind: Policy\napiVersion: v1\npriorities: [{name: LeastRequestedPriority, weight: 2}]"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if p, err := convert.LoadLegacyPolicy("f", b); err == nil {
			convert.SchedulerProfile(p)
		}
	})
}
