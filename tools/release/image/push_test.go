package image

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
)

// newRepository returns a repository in an empty registry.
func newRepository(t *testing.T) name.Repository {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository, err := Repository(strings.TrimPrefix(server.URL, "http://") + "/team/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// published returns the digest of a tag, or nothing.
func published(t *testing.T, tag name.Tag) string {
	t.Helper()
	got, err := Published(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	if got == nil {
		return ""
	}
	return got.Digest.String()
}

func TestPush(t *testing.T) {
	repository := newRepository(t)
	index := newTestIndex(t)
	pushed, err := Push(t.Context(), repository, index)
	if err != nil {
		t.Fatal(err)
	}
	want, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if pushed.String() != repository.String()+"@"+want.String() {
		t.Errorf("pushed %s, want digest %s", pushed, want)
	}
	tag := repository.Tag("1.2.3")
	if got := published(t, tag); got != "" {
		t.Errorf("the tag is %s before it is set", got)
	}
	if err := Tag(t.Context(), pushed, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	if got := published(t, tag); got != want.String() {
		t.Errorf("the tag is %s, want %s", got, want)
	}
}

// TestCheckTag checks that only the tag of another image is an error.
func TestCheckTag(t *testing.T) {
	repository := newRepository(t)
	first, err := Push(t.Context(), repository, newTestIndex(t))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Push(t.Context(), repository, newTestIndex(t, licenses.File{Path: "a/LICENSE", Data: []byte("a")}))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckTag(t.Context(), first, "1.2.3"); err != nil {
		t.Errorf("a new tag: %v", err)
	}
	if err := Tag(t.Context(), first, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	if err := CheckTag(t.Context(), first, "1.2.3"); err != nil {
		t.Errorf("the same image: %v", err)
	}
	err = CheckTag(t.Context(), second, "1.2.3")
	if err == nil || !strings.HasPrefix(err.Error(), repository.String()+":1.2.3 exists and is another image, "+first.DigestStr()) ||
		!strings.Contains(err.Error(), "REPLACE=yes") || !strings.Contains(err.Error(), "VERSION=") {
		t.Errorf("another image: %v", err)
	}
}

// TestARegistryThatDoesNotAnswer checks that an error is not taken for a missing tag.
func TestARegistryThatDoesNotAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	repository, err := Repository(strings.TrimPrefix(server.URL, "http://") + "/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Published(t.Context(), repository.Tag("1"))
	if err == nil || !strings.Contains(err.Error(), "REPLACE=yes pushes without this check") {
		t.Errorf("error %v", err)
	}
}

func TestWhereNotToPush(t *testing.T) {
	for _, text := range []string{"evenkeel", "evenkeel/evenkeel", "registry.example.com/evenkeel:1.0", "registry.example.com/evenkeel@sha256:" +
		strings.Repeat("0", 64), "Registry.example.com/Evenkeel", ""} {
		if _, err := Repository(text); err == nil || !strings.HasPrefix(err.Error(), "want REGISTRY/NAME without a tag") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
