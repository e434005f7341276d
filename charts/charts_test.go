// Package charts contains the Helm chart. Its only code are tests: the chart and the program have the same default
// configuration, and the alerts and the dashboard are valid PromQL.
package charts

import (
	"os"
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestChartMatchesDefaultConfig checks that the section config of values.yaml equals config.yaml.
func TestChartMatchesDefaultConfig(t *testing.T) {
	read := func(path string) map[string]any {
		t.Helper()
		text := must.Get(os.ReadFile(path))(t)
		var doc map[string]any
		if err := yaml.UnmarshalStrict(text, &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return doc
	}
	shipped, values := read("../config.yaml"), read("evenkeel/values.yaml")
	carried, ok := values["config"].(map[string]any)
	if !ok {
		t.Fatal("values.yaml has no config")
	}
	for key, want := range shipped {
		if !reflect.DeepEqual(carried[key], want) {
			t.Errorf("config.%s is %v in the chart, want %v as in config.yaml", key, carried[key], want)
		}
	}
	for key := range carried {
		if _, ok := shipped[key]; !ok {
			t.Errorf("config.%s is in the chart but not in config.yaml", key)
		}
	}
}
