package main

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
)

// newRegistry returns the address of an empty registry.
func newRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// writeRandomImage writes an image to a folder and returns the folder and the digest.
func writeRandomImage(t *testing.T) (folder, digest string) {
	t.Helper()
	index, err := random.Index(64, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "image")
	if err := image.Write(folder, index, "1.2.3", ""); err != nil {
		t.Fatal(err)
	}
	hash, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return folder, hash.String()
}

// TestAPublishedTagIsKept pushes two images under one tag. The second needs the permission to replace the first, and
// pushes nothing without it.
func TestAPublishedTagIsKept(t *testing.T) {
	to := pushTo{repository: newRegistry(t) + "/evenkeel", version: "1.2.3"}
	repository, err := image.Repository(to.repository)
	if err != nil {
		t.Fatal(err)
	}
	expectTag := func(when, want string) {
		t.Helper()
		got, err := image.Published(t.Context(), repository.Tag("1.2.3"))
		if err != nil || got == nil || got.Digest.String() != want {
			t.Errorf("%s: the tag is %+v, error %v, want %s", when, got, err, want)
		}
	}
	first, firstDigest := writeRandomImage(t)
	for range 2 { // pushing the same image again is no error
		if err := pushImage(t.Context(), first, to); err != nil {
			t.Fatal(err)
		}
	}
	second, secondDigest := writeRandomImage(t)
	if err := pushImage(t.Context(), second, to); err == nil || !strings.Contains(err.Error(), "exists and is another image") {
		t.Errorf("the second image: error %v", err)
	}
	expectTag("after the second image", firstDigest)
	tag := []string{"-image", to.repository + "@" + secondDigest, "-version", "1.2.3"}
	if err := runTag(t.Context(), tag); err == nil {
		t.Error("the command tag replaces the tag of another image")
	}
	to.untagged = true
	if err := pushImage(t.Context(), second, to); err != nil {
		t.Errorf("the second image without a tag: %v", err)
	}
	expectTag("after the second image without a tag", firstDigest)
	if err := runTag(t.Context(), append(tag, "-replace")); err != nil {
		t.Error(err)
	}
	expectTag("after the command tag with -replace", secondDigest)
	to.untagged, to.replace = false, true
	if err := pushImage(t.Context(), first, to); err != nil {
		t.Error(err)
	}
	expectTag("after the first image with -replace", firstDigest)
}

// TestAnEmptyNameIsAnError checks that `make image PUSH=$IMAGE` without IMAGE does not only build.
func TestAnEmptyNameIsAnError(t *testing.T) {
	err := runImage(t.Context(), []string{"-o", t.TempDir(), "-push", ""})
	if err == nil || !strings.HasPrefix(err.Error(), "-push is empty: set PUSH=REGISTRY/NAME") {
		t.Errorf("error %v", err)
	}
	for _, image := range []string{"", "registry.example.org/evenkeel:1"} {
		if err := runTag(t.Context(), []string{"-image", image, "-version", "1"}); err == nil || !strings.HasPrefix(err.Error(), "-image: want ") {
			t.Errorf("tag %q: error %v", image, err)
		}
	}
}
