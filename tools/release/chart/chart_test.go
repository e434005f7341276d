package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	root       = "../../.."
	registry   = "registry.example.org"
	repository = "team/evenkeel"
	image      = registry + "/" + repository + "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func read(t *testing.T, folder, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCopyForARelease checks that values, documentation and the annotation for Artifact Hub name the image.
func TestCopyForARelease(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "evenkeel")
	if err := Copy(root, folder, image); err != nil {
		t.Fatal(err)
	}
	var values struct {
		Image struct{ Registry, Repository, Tag, Digest string }
	}
	if err := yaml.Unmarshal([]byte(read(t, folder, "values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	if i := values.Image; i.Registry != registry || i.Repository != repository || i.Tag != "" || i.Digest != "" {
		t.Errorf("got image %+v", i)
	}
	var metadata struct{ Annotations map[string]string }
	if err := yaml.Unmarshal([]byte(read(t, folder, "Chart.yaml")), &metadata); err != nil {
		t.Fatal(err)
	}
	for annotation, want := range map[string]string{"evenkeel.io/image": image, "artifacthub.io/images": "- name: evenkeel\n  image: " + image + "\n"} {
		if got := metadata.Annotations[annotation]; got != want {
			t.Errorf("got annotation %s %q, want %q", annotation, got, want)
		}
	}
	readme := read(t, folder, "README.md")
	for _, want := range []string{"| `image.registry` | `\"" + registry + "\"` |", "| `image.repository` | `\"" + repository + "\"` |",
		"helm install evenkeel CHART --namespace evenkeel --create-namespace\n"} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md lacks %s", want)
		}
	}
	if strings.Contains(readme, "$IMAGE") {
		t.Error("README.md still asks for an image")
	}
}

// TestCopyWithoutAnImage checks that the chart stays as it is, and has the license texts besides.
func TestCopyWithoutAnImage(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "evenkeel")
	if err := Copy(root, folder, ""); err != nil {
		t.Fatal(err)
	}
	for file, from := range map[string]string{"LICENSE": root, "NOTICE": root, "values.yaml": root + "/charts/evenkeel",
		"README.md": root + "/charts/evenkeel", "templates/deployment.yaml": root + "/charts/evenkeel"} {
		if read(t, folder, file) != read(t, from, file) {
			t.Errorf("%s differs from that of %s", file, from)
		}
	}
}

func TestCopyRefusesATag(t *testing.T) {
	err := Copy(root, filepath.Join(t.TempDir(), "evenkeel"), registry+"/"+repository+":1.2.3")
	if err == nil || !strings.Contains(err.Error(), "want REGISTRY/NAME@sha256:...") {
		t.Errorf("got error %v", err)
	}
}
