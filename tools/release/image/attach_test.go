package image

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
)

func TestAuthoritiesVersion(t *testing.T) {
	for text, want := range map[string]string{
		"a.example/x v1.0.0\n" + AuthoritiesModule + " v0.1.2\n": "v0.1.2",
		AuthoritiesModule + "/other v0.1.2\n":                    "",
	} {
		folder := filepath.Join(t.TempDir(), "image")
		if err := Write(folder, newTestIndex(t, licenses.File{Path: "MODULES", Data: []byte(text)}), "1.2.3", ""); err != nil {
			t.Fatal(err)
		}
		got, err := AuthoritiesVersion(folder, Platforms[0])
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: version %q, error %v, want %q", text, got, err, want)
		}
	}
}

func TestProgram(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "image")
	if err := Write(folder, newTestIndex(t), "1.2.3", ""); err != nil {
		t.Fatal(err)
	}
	for _, p := range Platforms {
		binary, labels, err := Program(folder, p)
		if err != nil || string(binary) != "program for "+p.String() || labels["org.opencontainers.image.version"] != "1.2.3" {
			t.Errorf("%s: %q, %v, %v", p, binary, labels, err)
		}
	}
	if _, _, err := Program(folder, gobuild.Platform{OS: "windows", Arch: "amd64"}); err == nil {
		t.Error("the image has a program for windows")
	}
}

func TestAttach(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	defer server.Close()
	repository, err := Repository(strings.TrimPrefix(server.URL, "http://") + "/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := Push(t.Context(), repository, newTestIndex(t))
	if err != nil {
		t.Fatal(err)
	}
	attached, err := Attach(t.Context(), pushed, "application/vnd.cyclonedx+json", []byte(`{"bomFormat":"CycloneDX"}`))
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(pushed)
	if err != nil {
		t.Fatal(err)
	}
	m, err := referrers.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Manifests) != 1 || m.Manifests[0].Digest.String() != attached.DigestStr() || m.Manifests[0].ArtifactType != "application/vnd.cyclonedx+json" {
		t.Errorf("referrers %+v, want %s", m.Manifests, attached)
	}
}
