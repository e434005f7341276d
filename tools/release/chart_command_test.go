package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
)

// fakeHelm writes a program in the place of helm. `push` prints the given digest, and notes that it ran.
func fakeHelm(t *testing.T, digest string) (path, ran string) {
	t.Helper()
	dir := t.TempDir()
	path, ran = filepath.Join(dir, "helm"), filepath.Join(dir, "ran")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %s\necho 'Pushed: x'\necho 'Digest: %s'\n", ran, digest)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, ran
}

// TestPushChart checks what is given to helm. `make test-release` pushes with helm itself.
func TestPushChart(t *testing.T) {
	folder := newRegistry(t) + "/charts"
	file := filepath.Join(t.TempDir(), "evenkeel-1.2.3.tgz")
	writeText(t, file, "package")
	digest := "sha256:" + strings.Repeat("a", 64)
	helm, ran := fakeHelm(t, digest)
	args := []string{"-helm", helm, "-chart", file, "-push", folder}
	if err := runPushChart(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ran)
	if want := "push " + file + " oci://" + folder + " --plain-http\n"; err != nil || string(text) != want {
		t.Errorf("helm got %q, want %q (%v)", text, want, err)
	}
	for name, c := range map[string]struct{ chart, push, digest, want string }{
		"without a name":   {file, "", digest, "-push: set PUSH=REGISTRY/FOLDER: "},
		"no package":       {file + ".sig", folder, digest, "push-chart: want -helm FILE and -chart evenkeel-VERSION.tgz"},
		"without a digest": {file, folder, "", "helm push printed no digest: "},
	} {
		helm, _ := fakeHelm(t, c.digest)
		err := runPushChart(t.Context(), []string{"-helm", helm, "-chart", c.chart, "-push", c.push})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

// TestAPublishedChartIsKept checks that helm gets no package whose version the registry has: the same package is left,
// and another one is refused.
func TestAPublishedChartIsKept(t *testing.T) {
	folder := newRegistry(t) + "/charts"
	repository, err := image.Repository(folder + "/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	published, err := mutate.AppendLayers(empty.Image, static.NewLayer([]byte("package"), "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(repository.Tag("1.2.3"), published); err != nil {
		t.Fatal(err)
	}
	helm, ran := fakeHelm(t, "sha256:"+strings.Repeat("a", 64))
	file := filepath.Join(t.TempDir(), "evenkeel-1.2.3.tgz")
	args := []string{"-helm", helm, "-chart", file, "-push", folder}
	writeText(t, file, "package")
	if err := runPushChart(t.Context(), args); err != nil {
		t.Errorf("the same package: %v", err)
	}
	writeText(t, file, "another package")
	if err := runPushChart(t.Context(), args); err == nil || !strings.Contains(err.Error(), ":1.2.3 exists and is another package, sha256:") {
		t.Errorf("another package: error %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("helm ran")
	}
	if err := runPushChart(t.Context(), append(args, "-replace")); err != nil {
		t.Errorf("with -replace: %v", err)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("helm did not run with -replace")
	}
}
