package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestManifestsNameTheImage(t *testing.T) {
	const image = "registry.example.org/evenkeel@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	folder := t.TempDir()
	if err := runManifests(t.Context(), []string{"-root", "../..", "-o", folder, "-image", image}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"install.yaml", "kustomize/base/evenkeel.yaml", "kustomize/evict/evenkeel.yaml"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(data); strings.Contains(text, placeholder) || !strings.Contains(text, "image: "+image+"\n") {
			t.Errorf("%s does not name the image", name)
		}
	}
	if archive, err := os.ReadFile(filepath.Join(folder, "kustomize.tar.gz")); err != nil || len(archive) == 0 {
		t.Errorf("kustomize.tar.gz has %d bytes, error %v", len(archive), err)
	}
	for _, name := range []string{"LICENSE", "NOTICE"} {
		if _, err := os.Stat(filepath.Join(folder, "kustomize", name)); err != nil {
			t.Error(err)
		}
	}
	for _, wrong := range []string{"", "evenkeel", "registry.example.org/evenkeel@sha256:12"} {
		if err := runManifests(t.Context(), []string{"-root", "../..", "-o", folder, "-image", wrong}); err == nil {
			t.Errorf("-image %q is accepted", wrong)
		}
	}
}

// TestAFileThatKeepsThePlaceholder checks every file: that another one names the image is not enough.
func TestAFileThatKeepsThePlaceholder(t *testing.T) {
	from := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "image: " + placeholder + ":1\n", "b.yaml": "args: [" + placeholder + ":1]\n"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := copyManifests(from, t.TempDir(), "registry.example.org/evenkeel:1")
	if err == nil || !strings.Contains(err.Error(), "b.yaml still names "+placeholder) {
		t.Errorf("error %v", err)
	}
}
