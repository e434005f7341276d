package descheduler_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestConvert converts policies, and compares each configuration with the golden file.
func TestConvert(t *testing.T) {
	golden.Pairs(t, "testdata/config.txtar", func(t *testing.T, given []byte) string {
		r := must.Get(descheduler.Convert(given, descheduler.Options{File: "dir/policy.yaml"}))(t)
		if _, err := config.Load("converted", []byte(r.Config)); err != nil {
			t.Errorf("the converted configuration is not valid: %v\n%s", err, r.Config)
		}
		return r.Config
	})
}

// TestValues converts values of the chart. They must match the schema of Evenkeel's chart, and the part below config
// must be the converted configuration.
func TestValues(t *testing.T) {
	schema := must.Get(jsonschema.NewCompiler().Compile("../../../charts/evenkeel/values.schema.json"))(t)
	golden.Pairs(t, "testdata/values.txtar", func(t *testing.T, given []byte) string {
		r := must.Get(descheduler.Convert(given, descheduler.Options{File: "values.yaml"}))(t)
		var values map[string]any
		must.Succeed(t, yaml.Unmarshal([]byte(r.Values), &values))
		if err := schema.Validate(withDefaults(t, values)); err != nil {
			t.Error(err)
		}
		var want map[string]any
		must.Succeed(t, yaml.Unmarshal([]byte(r.Config), &want))
		if d := cmp.Diff(any(want), values["config"]); d != "" {
			t.Errorf("config of the values differs from the configuration (-want +got):\n%s", d)
		}
		return r.Values
	})
}

// withDefaults adds the keys of the chart that values do not set.
func withDefaults(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	text := must.Get(os.ReadFile("../../../charts/evenkeel/values.yaml"))(t)
	var out map[string]any
	must.Succeed(t, yaml.Unmarshal(text, &out))
	maps.Copy(out, values)
	return out
}

// TestMistakes converts policies that cannot be kept, and compares the complete error.
func TestMistakes(t *testing.T) {
	golden.Pairs(t, "testdata/mistakes.txtar", func(t *testing.T, given []byte) string {
		_, err := descheduler.Convert(given, descheduler.Options{})
		return golden.ErrorText(t, err)
	})
}

// FuzzConvert checks that every converted policy is a valid configuration, and that no input makes the program panic.
func FuzzConvert(f *testing.F) {
	for _, file := range []string{"config", "mistakes", "values"} {
		a := must.Get(txtar.ParseFile("testdata/" + file + ".txtar"))(f)
		for i := 0; i < len(a.Files); i += 2 {
			f.Add(a.Files[i].Data)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := descheduler.Convert(b, descheduler.Options{})
		if err != nil {
			if strings.Contains(err.Error(), "the converted configuration") {
				t.Errorf("an error is about the result: %v\n%s", err, b)
			}
			return
		}
		var values map[string]any
		if err := yaml.Unmarshal([]byte(r.Values), &values); err != nil {
			t.Errorf("the values are no YAML: %v\n%s", err, r.Values)
		}
	})
}

// TestNestedValues converts values of the chart that other objects contain.
func TestNestedValues(t *testing.T) {
	const policy = "{profiles: [{name: p, pluginConfig: [{name: RemoveDuplicates}], plugins: {balance: {enabled: [RemoveDuplicates]}}}]}"
	want := must.Get(descheduler.Convert([]byte("deschedulerPolicy: "+policy+"\n"), descheduler.Options{}))(t)
	for name, text := range map[string]string{
		"HelmRelease": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {values: {deschedulerPolicy: " + policy + "}}\n",
		"HelmRelease after its source": "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n---\n" +
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nspec: {values: {deschedulerPolicy: " + policy + "}}\n",
		"Application": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {helm: {valuesObject: {deschedulerPolicy: " + policy + "}}}}\n",
		"Application with text": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  sources:\n  - helm:\n      values: |\n" +
			"        deschedulerPolicy: " + policy + "\n",
		"chart around it": "descheduler: {deschedulerPolicy: " + policy + "}\nother: 1\n",
	} {
		if !descheduler.Is([]byte(text)) {
			t.Errorf("%s is not recognized", name)
		}
		if got, err := descheduler.Convert([]byte(text), descheduler.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := cmp.Diff(want.Config, got.Config); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
