package helm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// renderedImages returns the images and pull secrets of the pods, with the given values instead of imageArgs.
func renderedImage(t *testing.T, values string) (image string, secrets any) {
	t.Helper()
	return renderedImageOf(t, chart, values)
}

func renderedImageOf(t *testing.T, chart, values string) (image string, secrets any) {
	t.Helper()
	out, errs, err := runHelm(t, "template", "ek", chart, "--set", values)
	if err != nil {
		t.Fatalf("%s: %s", values, errs)
	}
	spec := valueAt(t, podTemplates(t, out)[0], "spec").(manifest)
	return valueAt(t, spec, "containers", 0, "image").(string), spec["imagePullSecrets"]
}

func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	for values, want := range map[string]string{
		"image.repository=team/evenkeel":                                                                  "team/evenkeel:0.1.0",
		"image.repository=localhost:5000/evenkeel,image.tag=v1":                                           "localhost:5000/evenkeel:v1",
		"image.repository=team/evenkeel,image.registry=a.example.org":                                     "a.example.org/team/evenkeel:0.1.0",
		"image.repository=team/evenkeel,global.imageRegistry=b.example.org/":                              "b.example.org/team/evenkeel:0.1.0",
		"image.repository=team/evenkeel,image.registry=a.example.org,global.imageRegistry=b:5000":         "b:5000/team/evenkeel:0.1.0",
		"image.repository=team/evenkeel,image.digest=" + digest:                                           "team/evenkeel@" + digest,
		"kind=CronJob,image.repository=team/evenkeel,image.tag=v1,image.digest=" + digest:                 "team/evenkeel:v1@" + digest,
		"image.repository=team/evenkeel,image.tag=v1,image.registry=a.example.org,image.digest=" + digest: "a.example.org/team/evenkeel:v1@" + digest,
	} {
		if got, _ := renderedImage(t, values); got != want {
			t.Errorf("%s: image %s, want %s", values, got, want)
		}
	}
}

// TestImageOfARelease checks that the digest of a release holds for its image only, wherever it is pulled from.
func TestImageOfARelease(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	released := filepath.Join(t.TempDir(), "evenkeel")
	if err := os.CopyFS(released, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	metadata, err := os.ReadFile(filepath.Join(released, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(metadata), "\nannotations:\n", "\nannotations:\n  evenkeel.io/image: ghcr.io/team/evenkeel"+digest+"\n", 1)
	if err := os.WriteFile(filepath.Join(released, "Chart.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const defaults = "image.registry=ghcr.io,image.repository=team/evenkeel"
	for values, want := range map[string]string{
		defaults: "ghcr.io/team/evenkeel" + digest,
		defaults + ",global.imageRegistry=mirror.example.org:5000":             "mirror.example.org:5000/team/evenkeel" + digest,
		defaults + ",image.registry=mirror.example.org":                        "mirror.example.org/team/evenkeel" + digest,
		defaults + ",image.tag=dev":                                            "ghcr.io/team/evenkeel:dev",
		defaults + ",image.repository=other/evenkeel":                          "ghcr.io/other/evenkeel:0.1.0",
		defaults + ",image.repository=registry.example.org/my":                 "registry.example.org/my:0.1.0",
		defaults + ",image.repository=localhost/my,image.tag=dev":              "localhost/my:dev",
		defaults + ",image.registry=mirror.example.org,image.repository=b.c/d": "mirror.example.org/b.c/d:0.1.0",
	} {
		if got, _ := renderedImageOf(t, released, values); got != want {
			t.Errorf("%s: image %s, want %s", values, got, want)
		}
	}
}

func TestImageIsRequired(t *testing.T) {
	for values, want := range map[string]string{
		"kind=Deployment":                         "image.repository is empty, and the chart of the source tree has no image.",
		"kind=CronJob":                            "image.repository is empty, and the chart of the source tree has no image.",
		"image=null":                              "image.repository is empty, and the chart of the source tree has no image.",
		"image.repository=team/evenkeel:v1":       "image.repository is team/evenkeel:v1, which has a tag or a digest.",
		"image.repository=team/evenkeel@sha256:0": "image.repository is team/evenkeel@sha256:0, which has a tag or a digest.",
	} {
		if _, errs, err := runHelm(t, "template", "ek", chart, "--set", values); err == nil || !strings.Contains(errs, want) {
			t.Errorf("%s: %q, want %q", values, errs, want)
		}
	}
}

// TestPullSecrets checks that the pods get the secrets of all charts and of this one, each once.
func TestPullSecrets(t *testing.T) {
	const values = "image.repository=a,imagePullSecrets[0].name=one,imagePullSecrets[1].name=two," +
		"global.imagePullSecrets[0]=three,global.imagePullSecrets[1].name=one"
	_, secrets := renderedImage(t, values)
	var names []string
	for _, s := range secrets.([]any) {
		names = append(names, valueAt(t, s, "name").(string))
	}
	if !slices.Equal(names, []string{"three", "one", "two"}) {
		t.Errorf("got secrets %v", names)
	}
	if _, secrets := renderedImage(t, "image.repository=a"); secrets != nil {
		t.Errorf("without secrets: %v", secrets)
	}
}
