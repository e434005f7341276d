package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
)

// TestTheSBOMIsAttachedToItsImageOnly checks that an image with another digest than the local one is refused.
func TestTheSBOMIsAttachedToItsImageOnly(t *testing.T) {
	index, err := random.Index(64, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "image")
	if err := image.Write(folder, index, "1.2.3", ""); err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	const repository = "registry.example.org/evenkeel@"
	if got, err := pushedImage(repository+digest.String(), folder); err != nil || got.DigestStr() != digest.String() {
		t.Errorf("the image itself: %s, error %v", got, err)
	}
	for text, want := range map[string]string{
		repository + "sha256:" + strings.Repeat("0", 64): "-attach: " + repository + "sha256:" + strings.Repeat("0", 64) + " is not the image in ",
		"registry.example.org/evenkeel:1.2.3":            "-attach: want REGISTRY/NAME@sha256:...: ",
	} {
		args := []string{"-image", folder, "-tool", "/no/such/tool", "-o", filepath.Join(t.TempDir(), "sbom"), "-attach", text}
		if err := runSBOM(t.Context(), args); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
