package controllergen

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const root = "../.."

// TestDefinitionsAreCurrent checks that `make crds` would not change the CustomResourceDefinitions of the chart.
func TestDefinitionsAreCurrent(t *testing.T) {
	want := t.TempDir()
	cmd := exec.Command("go", "tool", "-modfile=tools/controllergen/go.mod", "controller-gen", "crd", "paths=./api/...", "output:crd:dir="+want)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("controller-gen: %v\n%s", err, out)
	}
	made, have := definitions(t, want), definitions(t, root+"/charts/evenkeel/files/crds")
	for name := range made {
		if !bytes.Equal(made[name], have[name]) {
			t.Errorf("charts/evenkeel/files/crds/%s differs from package api/v1alpha1; run `make crds`", name)
		}
	}
	for name := range have {
		if made[name] == nil {
			t.Errorf("charts/evenkeel/files/crds/%s is the definition of no kind in package api/v1alpha1; delete it", name)
		}
	}
}

// definitions returns the files of a folder by name.
func definitions(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(dir + "/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		if out[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
