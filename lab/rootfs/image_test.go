package rootfs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// entry is an entry of a layer.
type entry struct {
	kind       byte
	name, text string
}

// layoutOf writes an OCI image layout with one layer by hand and returns its folder and the digest of the layer.
func layoutOf(t *testing.T, entries ...entry) (folder, layer string) {
	t.Helper()
	folder = t.TempDir()
	content := archive(t, entries)
	packed := gzipped(t, content)
	put := func(data []byte, mediaType string) map[string]any {
		d := writeBlob(t, folder, data)
		return map[string]any{"mediaType": mediaType, "digest": d, "size": len(data)}
	}
	config := map[string]any{"os": "linux", "architecture": "amd64", "config": map[string]any{"User": "1:2", "Entrypoint": []string{"/a"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{sum(content)}}}
	manifest := map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": put(encode(t, config), configType),
		"layers": []any{put(packed, layerType)}}
	entryOf := put(encode(t, manifest), manifestType)
	entryOf["platform"] = map[string]any{"os": "linux", "architecture": "amd64"}
	index := map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []any{entryOf}}
	outer := map[string]any{"schemaVersion": 2, "manifests": []any{put(encode(t, index), indexType)}}
	must.Succeed(t, os.WriteFile(filepath.Join(folder, "index.json"), encode(t, outer), 0o600))
	return folder, sum(packed)
}

func archive(t *testing.T, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Mode: 0o755, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink {
			h.Size, h.Linkname = 0, e.text
		}
		must.Succeed(t, w.WriteHeader(h))
		if e.kind == tar.TypeReg {
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	must.Succeed(t, w.Close())
	return out.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, w.Close())
	return out.Bytes()
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text := must.Get(json.Marshal(v))(t)
	return text
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(s[:])
}

func blobPath(folder, digest string) string {
	return filepath.Join(folder, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
}

func writeBlob(t *testing.T, folder string, data []byte) string {
	t.Helper()
	path := blobPath(folder, sum(data))
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Succeed(t, os.WriteFile(path, data, 0o600))
	return sum(data)
}

func TestUnpack(t *testing.T) {
	folder, _ := layoutOf(t, entry{tar.TypeDir, "d/", ""}, entry{tar.TypeReg, "d/f", "text"}, entry{tar.TypeReg, "a", "program"})
	image, err := FromLayout(t.Context(), folder, "linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	must.Succeed(t, image.Unpack(t.Context(), root))
	text, err := os.ReadFile(filepath.Join(root, "d", "f"))
	if err != nil || string(text) != "text" || image.Config.Config.User != "1:2" {
		t.Errorf("d/f is %q, %v; user %s", text, err, image.Config.Config.User)
	}
	if _, err := FromLayout(t.Context(), folder, "linux", "arm64"); err == nil || !strings.Contains(err.Error(), "no image for linux/arm64") {
		t.Errorf("for another platform: %v", err)
	}
}

// TestUnpackRejects checks layers that are not what their digest says, or that a container runtime might write
// elsewhere.
func TestUnpackRejects(t *testing.T) {
	for name, c := range map[string]struct {
		entries []entry
		change  bool
		want    string
	}{
		"changed":      {[]entry{{tar.TypeReg, "f", "text"}}, true, "want"},
		"a link":       {[]entry{{tar.TypeSymlink, "f", "/etc/passwd"}}, false, "want a file or a folder"},
		"outside":      {[]entry{{tar.TypeReg, "../f", "text"}}, false, "escapes"},
		"a file twice": {[]entry{{tar.TypeReg, "f", "1"}, {tar.TypeReg, "f", "2"}}, false, "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, layer := layoutOf(t, c.entries...)
			if c.change {
				packed := gzipped(t, archive(t, []entry{{tar.TypeReg, "f", "evil"}}))
				must.Succeed(t, os.WriteFile(blobPath(folder, layer), packed, 0o600))
			}
			image := must.Get(FromLayout(t.Context(), folder, "linux", "amd64"))(t)
			if err := image.Unpack(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestFromRegistry reads the same image from a server with the paths of the OCI distribution specification.
func TestFromRegistry(t *testing.T) {
	folder, _ := layoutOf(t, entry{tar.TypeReg, "f", "text"})
	want := must.Get(FromLayout(t.Context(), folder, "linux", "amd64"))(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reference := filepath.Base(r.URL.Path)
		if reference == "1.0" {
			reference = want.IndexDigest
		}
		if path := strings.TrimSuffix(r.URL.Path, filepath.Base(r.URL.Path)); path != "/v2/team/app/manifests/" && path != "/v2/team/app/blobs/" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, blobPath(folder, reference))
	}))
	defer server.Close()
	name := strings.TrimPrefix(server.URL, "http://") + "/team/app"
	for _, reference := range []string{"1.0", want.IndexDigest} {
		got := must.Get(FromRegistry(t.Context(), name, reference, "linux", "amd64"))(t)
		if err := got.Unpack(t.Context(), t.TempDir()); err != nil || got.IndexDigest != want.IndexDigest {
			t.Errorf("%s: digest %s, error %v", reference, got.IndexDigest, err)
		}
	}
	if _, err := FromRegistry(t.Context(), name, "2.0", "linux", "amd64"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("an unknown tag: %v", err)
	}
}
