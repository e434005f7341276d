package helm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestLargeNumbers sets each count of the configuration to a large number, which Helm reads as a float64, and expects
// the number in the rendered configuration. A template prints such a float64 as 2e+06.
func TestLargeNumbers(t *testing.T) {
	const large = 2000000.0
	text, err := os.ReadFile(chart + "/files/config-formats.json")
	if err != nil {
		t.Fatal(err)
	}
	var formats struct{ Keys map[string]string }
	if err := json.Unmarshal(text, &formats); err != nil {
		t.Fatal(err)
	}
	window := manifest{"schedule": "0 8 * * *", "duration": "1h"}
	strategy := manifest{"type": "ZoneSpread", "schedule": "@hourly"}
	want := manifest{"windows": manifest{"allow": []any{window}}, "strategies": manifest{"own": strategy}}
	counts := 0
	for key, format := range formats.Keys {
		if format != "count" && format != "wholeCount" && format != "positiveCount" {
			continue
		}
		counts++
		node, path := want, key
		if rest, found := strings.CutPrefix(key, "windows.allow[]."); found {
			node, path = window, rest
		} else if rest, found := strings.CutPrefix(key, "strategies.*."); found {
			node, path = strategy, rest
		}
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			if node[name] == nil {
				node[name] = manifest{}
			}
			node = node[name].(manifest)
		}
		node[names[len(names)-1]] = large
	}
	if counts < 20 {
		t.Errorf("%d counts, want at least 20", counts)
	}
	values, err := yaml.Marshal(manifest{"config": want, "podDisruptionBudget": manifest{"enabled": true, "maxUnavailable": large}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, values, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, helm := range helms() {
		out, errs, err := runProgram(t, helm, append([]string{"template", "ek", chart, "--kube-version", "1.37.0", "--values", file}, imageArgs...)...)
		if err != nil {
			t.Errorf("%s: %s", helm, errs)
			continue
		}
		var got manifest
		rendered := valueAt(t, parseObjects(t, out, "ConfigMap")[0], "data", "config.yaml").(string)
		if err := yaml.UnmarshalStrict([]byte(rendered), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, keysOf(got, want)); d != "" {
			t.Errorf("%s: the configuration differs (-values +rendered):\n%s", helm, d)
		}
		if got := valueAt(t, parseObjects(t, out, "PodDisruptionBudget")[0], "spec", "maxUnavailable"); got != large {
			t.Errorf("%s: maxUnavailable is %v, want %v", helm, got, large)
		}
	}
}

// keysOf returns the part of a map that has the keys of another map.
func keysOf(m, other manifest) manifest {
	out := manifest{}
	for key, value := range other {
		out[key] = m[key]
		child, isMap := m[key].(manifest)
		if wanted, both := value.(manifest); both && isMap {
			out[key] = keysOf(child, wanted)
		}
	}
	return out
}
