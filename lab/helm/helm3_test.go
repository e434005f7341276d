package helm_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestHelm3RendersTheSameObjects renders each row of the pairwise table with Helm 3 and Helm 4. Null values mean
// defaults; Helm 3 keeps some of them, also in config.yaml.
func TestHelm3RendersTheSameObjects(t *testing.T) {
	helm3 := os.Getenv("EVENKEEL_HELM3")
	if helm3 == "" {
		t.Skip("needs a Helm 3: run `make test-helm3`")
	}
	rows := 0
	eachPairwiseRow(t, func(title, values string) {
		rows++
		args := []string{"template", "ek", chart, "--namespace", "ek-system", "--kube-version", "1.37.0", "--values", values}
		want, errs, err := runHelm(t, args...)
		if err != nil {
			t.Fatalf("%s: %s", title, errs)
		}
		got, errs, err := runProgram(t, helm3, args...)
		if err != nil {
			t.Errorf("%s: %s", title, errs)
			return
		}
		if d := cmp.Diff(normalized(t, want), normalized(t, got)); d != "" {
			t.Errorf("%s: Helm 3 renders other objects (-Helm 4 +Helm 3):\n%s", title, d)
		}
	})
	if rows < 20 {
		t.Errorf("the table has %d rows, want at least 20", rows)
	}
}

// normalized returns the objects of the manifests without null values. Of the texts in ConfigMaps, config.yaml becomes
// an object, and the others lose the newline at their end, which Helm 3 cuts at the end of a document.
func normalized(t *testing.T, manifests string) (objects []any) {
	t.Helper()
	for _, o := range allObjects(t, manifests) {
		data, _ := o["data"].(manifest)
		for name, text := range data {
			data[name] = strings.TrimSuffix(text.(string), "\n")
			if name != "config.yaml" {
				continue
			}
			var config any
			if err := yaml.Unmarshal([]byte(text.(string)), &config); err != nil {
				t.Fatal(err)
			}
			data[name] = config
		}
		objects = append(objects, withoutNulls(o))
	}
	return objects
}
