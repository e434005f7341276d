package descheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/internal/golden"
)

// TestConvert converts policies, and compares each configuration with the golden file.
func TestConvert(t *testing.T) {
	golden.Pairs(t, "testdata/config.txtar", func(t *testing.T, given []byte) string {
		r, err := descheduler.Convert(given, descheduler.Options{File: "dir/policy.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load("converted", []byte(r.Config)); err != nil {
			t.Errorf("the converted configuration is not valid: %v\n%s", err, r.Config)
		}
		return r.Config
	})
}

// TestValues converts values of the chart. The part below config must be the converted configuration.
func TestValues(t *testing.T) {
	golden.Pairs(t, "testdata/values.txtar", func(t *testing.T, given []byte) string {
		r, err := descheduler.Convert(given, descheduler.Options{File: "values.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		var values struct {
			Config map[string]any `json:"config"`
		}
		if err := yaml.Unmarshal([]byte(r.Values), &values); err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := yaml.Unmarshal([]byte(r.Config), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, values.Config); d != "" {
			t.Errorf("config of the values differs from the configuration (-want +got):\n%s", d)
		}
		return r.Values
	})
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
		a, err := txtar.ParseFile("testdata/" + file + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		for i := 0; i < len(a.Files); i += 2 {
			f.Add(a.Files[i].Data)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := descheduler.Convert(b, descheduler.Options{})
		if err != nil {
			if strings.Contains(err.Error(), "has no valid counterpart") {
				t.Errorf("an error does not name the field: %v\n%s", err, b)
			}
			return
		}
		var values map[string]any
		if err := yaml.Unmarshal([]byte(r.Values), &values); err != nil {
			t.Errorf("the values are no YAML: %v\n%s", err, r.Values)
		}
	})
}
