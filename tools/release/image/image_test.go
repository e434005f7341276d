package image

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

var testSource = source.Source{Version: "1.2.3", Revision: "abc", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

// newTestIndex returns an index with other bytes than the program's.
func newTestIndex(t *testing.T, texts ...licenses.File) v1.ImageIndex {
	t.Helper()
	files, err := baseFiles(texts)
	if err != nil {
		t.Fatal(err)
	}
	base, err := newLayer(files)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[gobuild.Platform][]byte{}
	for _, p := range Platforms {
		programs[p] = []byte("program for " + p.String())
	}
	index, err := newIndex(testSource, base, programs)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestImage(t *testing.T) {
	index := newTestIndex(t, licenses.File{Path: "a.example/LICENSE", Data: []byte("text")})
	folder := t.TempDir()
	if err := Write(folder, index, "1.2.3", ""); err != nil { // validates it, too
		t.Fatal(err)
	}
	index, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, d := range m.Manifests {
		platforms = append(platforms, d.Platform.String())
		image, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		c, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.OS + "/" + c.Architecture; got != d.Platform.String() {
			t.Errorf("the image for %s says %s", d.Platform, got)
		}
		if c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{"/evenkeel"}) || c.Created.Time != testSource.Time {
			t.Errorf("user %s, entrypoint %v, created %s", c.Config.User, c.Config.Entrypoint, c.Created)
		}
		if c.Config.Labels["org.opencontainers.image.revision"] != "abc" || m.Annotations["org.opencontainers.image.version"] != "1.2.3" {
			t.Errorf("labels %v, annotations %v", c.Config.Labels, m.Annotations)
		}
		got, want := listFiles(t, image), []string{
			"drwxr-xr-x etc/", "-rw-r--r-- etc/group", "-rw-r--r-- etc/passwd",
			"drwxr-xr-x etc/ssl/", "drwxr-xr-x etc/ssl/certs/", "-rw-r--r-- etc/ssl/certs/ca-certificates.crt",
			"drwxr-xr-x licenses/", "drwxr-xr-x licenses/a.example/", "-rw-r--r-- licenses/a.example/LICENSE", "-rwxr-xr-x evenkeel"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %v", platforms)
	}
}

// listFiles returns the modes and names of all entries of the layers, and checks that they have no owner and
// no time.
func listFiles(t *testing.T, image v1.Image) (out []string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for tr := tar.NewReader(r); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 0 {
				t.Errorf("%s: owner %d:%d, time %s", h.Name, h.Uid, h.Gid, h.ModTime)
			}
			out = append(out, h.FileInfo().Mode().String()+" "+h.Name)
		}
	}
	return out
}

// TestSameDigest checks that the order of files does not matter, and that their content does.
func TestSameDigest(t *testing.T) {
	a, b := licenses.File{Path: "a/LICENSE", Data: []byte("a")}, licenses.File{Path: "b/LICENSE", Data: []byte("b")}
	digest := func(texts ...licenses.File) string {
		d, err := newTestIndex(t, texts...).Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	if digest(a, b) != digest(b, a) {
		t.Error("the order of files changes the digest")
	}
	if digest(a) == digest(b) {
		t.Error("two images have the same digest")
	}
}

// TestAuthorities checks the certificates with Go's own reader of such files.
func TestAuthorities(t *testing.T) {
	pem, err := authorities()
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		t.Fatal("the file has no certificate")
	}
	const trusted, constrained = "CN=ISRG Root X1,", "CN=Izenpe.com,"
	if n := strings.Count(string(pem), "BEGIN CERTIFICATE"); n < 100 || !strings.Contains(string(pem), "# "+trusted) || strings.Contains(string(pem), "# "+constrained) {
		t.Errorf("%d certificates; want more than 100, with %s and without %s", n, trusted, constrained)
	}
}

func TestWriteAndRead(t *testing.T) {
	index := newTestIndex(t)
	folder := filepath.Join(t.TempDir(), "image")
	for range 2 { // the second replaces the first
		if err := Write(folder, index, "1.2.3", "registry.example.com/evenkeel"); err != nil {
			t.Fatal(err)
		}
	}
	read, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	want, err1 := index.Digest()
	got, err2 := read.Digest()
	if err := errors.Join(err1, err2); err != nil || got != want {
		t.Errorf("digest %s, error %v; want %s", got, err, want)
	}
	text, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"io.containerd.image.name": "registry.example.com/evenkeel:1.2.3"`, `"org.opencontainers.image.ref.name": "1.2.3"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("index.json lacks %s: %s", part, text)
		}
	}
}

func TestWriteKeepsOtherFiles(t *testing.T) {
	folder := t.TempDir()
	other := filepath.Join(folder, "notes.txt")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(folder, newTestIndex(t), "1.2.3", ""); err == nil || !strings.Contains(err.Error(), "contains something else than an image") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
