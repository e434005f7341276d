// Package charts contains the Helm chart. Its only code are tests: the chart and the program have the same default
// configuration, and the alerts and the dashboard are valid PromQL.
package charts

import (
	"os"
	"path/filepath"
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

// TestArtifactHubMetadata checks that Artifact Hub can read what Chart.yaml says for it, and that it names the
// definitions of the chart.
func TestArtifactHubMetadata(t *testing.T) {
	var about struct{ Annotations map[string]string }
	must.Succeed(t, yaml.UnmarshalStrict(must.Get(os.ReadFile("artifacthub-repo.yml"))(t), &struct{ RepositoryID string }{}))
	must.Succeed(t, yaml.Unmarshal(must.Get(os.ReadFile("evenkeel/Chart.yaml"))(t), &about))
	type definition struct{ Kind, Version, Name, DisplayName, Description string }
	var listed []definition
	must.Succeed(t, yaml.UnmarshalStrict([]byte(about.Annotations["artifacthub.io/crds"]), &listed))
	kinds := map[string]string{}
	for _, d := range listed {
		kinds[d.Name] = d.Kind + "/" + d.Version
	}
	files := must.Get(filepath.Glob("evenkeel/files/crds/*.yaml"))(t)
	for _, file := range files {
		var crd struct {
			Metadata struct{ Name string }
			Spec     struct {
				Names    struct{ Kind string }
				Versions []struct{ Name string }
			}
		}
		must.Succeed(t, yaml.Unmarshal(must.Get(os.ReadFile(file))(t), &crd))
		if got, want := kinds[crd.Metadata.Name], crd.Spec.Names.Kind+"/"+crd.Spec.Versions[0].Name; got != want || len(files) != len(kinds) {
			t.Errorf("Chart.yaml lists %s as %q, want %s", crd.Metadata.Name, got, want)
		}
	}
	for key, fields := range map[string]any{
		"links":   &[]struct{ Name, URL string }{},
		"changes": &[]struct{ Kind, Description string }{},
		"crdsExamples": &[]struct {
			APIVersion, Kind string
			Metadata, Spec   map[string]any
		}{},
	} {
		must.Succeed(t, yaml.UnmarshalStrict([]byte(about.Annotations["artifacthub.io/"+key]), fields))
	}
}
