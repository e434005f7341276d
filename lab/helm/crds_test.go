package helm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// maxDefinition is the size at which `kubectl apply` fails, because it stores the object in an annotation.
const maxDefinition = 256 << 10

// TestCRDs checks that the chart renders the CustomResourceDefinitions as the API server stores them, that they stay
// after uninstalling unless crds.keep is false, and that none is rendered if crds.install is false.
func TestCRDs(t *testing.T) {
	files, err := filepath.Glob(chart + "/files/crds/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, want one for each kind (%v)", len(files), err)
	}
	for values, keep := range map[string]any{"crds.install=true": "keep", "crds.install=true,crds.keep=false": nil} {
		rendered := parseObjects(t, renderChart(t, "--set", values+",commonAnnotations.a=b"), "CustomResourceDefinition")
		if len(rendered) != len(files) {
			t.Fatalf("%s: %d definitions, want %d", values, len(rendered), len(files))
		}
		for i, file := range files {
			var want manifest
			if text, err := os.ReadFile(file); err != nil || yaml.Unmarshal(text, &want) != nil {
				t.Fatalf("reading %s: %v", file, err)
			}
			spec := want["spec"].(manifest)
			spec["conversion"] = manifest{"strategy": "None"}
			if !reflect.DeepEqual(rendered[i]["spec"], want["spec"]) || valueAt(t, rendered[i], "metadata", "name") != valueAt(t, want, "metadata", "name") {
				t.Errorf("%s: the chart renders another definition than %s", values, file)
			}
			annotations := valueAt(t, rendered[i], "metadata", "annotations").(manifest)
			if annotations["helm.sh/resource-policy"] != keep || annotations["a"] != "b" {
				t.Errorf("%s: annotations %v", values, annotations)
			}
			if text, err := json.Marshal(rendered[i]); err != nil || len(text) > maxDefinition/2 {
				t.Errorf("%s has %d bytes, want at most half of %d (%v)", file, len(text), maxDefinition, err)
			}
		}
	}
	if out := renderChart(t); strings.Contains(out, "kind: CustomResourceDefinition") {
		t.Error("crds.install=false renders definitions")
	}
	if out := renderChart(t, "--set", "crds=null"); !strings.Contains(out, "resource-policy: keep") {
		t.Error("values of an earlier chart, without crds, render no definitions that stay")
	}
}
