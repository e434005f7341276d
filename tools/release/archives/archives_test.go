package archives

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

var (
	testSource = source.Source{Version: "1.2.3", Revision: "abc", Time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)}
	linux      = gobuild.Platform{OS: "linux", Arch: "amd64"}
	windows    = gobuild.Platform{OS: "windows", Arch: "amd64"}
)

func testFiles() []file {
	return []file{{"evenkeel", []byte("program"), true}, {name: "licenses/a.example/LICENSE", data: []byte("text")}}
}

func TestTarArchive(t *testing.T) {
	a, data, err := pack(testSource, linux, testFiles())
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "evenkeel_1.2.3_linux_amd64.tar.gz" || a.SBOMName() != "evenkeel_1.2.3_linux_amd64.cdx.json" {
		t.Errorf("the archive is called %s, its SBOM %s", a.Name, a.SBOMName())
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(testSource.Time) {
			t.Errorf("%s was changed at %s, want the time of the commit", h.Name, h.ModTime)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
	}
	if diff := cmp.Diff([]string{"-rwxr-xr-x evenkeel", "-rw-r--r-- licenses/a.example/LICENSE"}, got); diff != "" {
		t.Error(diff)
	}
	if again, _, _ := pack(testSource, linux, testFiles()); again != a {
		t.Errorf("the second archive is %v, the first %v", again, a)
	}
}

func TestZipArchiveForWindows(t *testing.T) {
	a, data, err := pack(testSource, windows, testFiles())
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "evenkeel_1.2.3_windows_amd64.zip" || a.SBOMName() != "evenkeel_1.2.3_windows_amd64.cdx.json" {
		t.Errorf("the archive is called %s, its SBOM %s", a.Name, a.SBOMName())
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if r.File[0].Name != "evenkeel.exe" || len(r.File) != 2 {
		t.Errorf("%d files, the first is %s", len(r.File), r.File[0].Name)
	}
}

var update = flag.Bool("update", false, "rewrite the expected manifest")

// TestKrewManifest compares the manifest with the expected one, which `make lint-release` gives to krew's validator.
func TestKrewManifest(t *testing.T) {
	var archives []Archive
	for i, p := range Platforms {
		a, _, err := pack(testSource, p, testFiles())
		if err != nil {
			t.Fatal(err)
		}
		a.SHA256 = strings.Repeat(strconv.Itoa(i), 64)
		archives = append(archives, a)
	}
	got, err := Krew(testSource, archives)
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/evenkeel.yaml"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the manifest differs (-want +got):\n%s", diff)
	}
}

// packAsHelm packs files in the given order, at the current time and with an owner.
func packAsHelm(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Comment = "Helm"
	w := tar.NewWriter(z)
	for _, name := range names {
		h := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(name)), ModTime: time.Now(), Uid: 1000, Uname: "builder"}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRepack(t *testing.T) {
	first, err1 := Repack(packAsHelm(t, "evenkeel/values.yaml", "evenkeel/Chart.yaml"), testSource.Time)
	second, err2 := Repack(packAsHelm(t, "evenkeel/Chart.yaml", "evenkeel/values.yaml"), testSource.Time)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the order, the owner or the time of the files changes the archive (%v)", err)
	}
	checkMembers(t, first, "evenkeel/Chart.yaml", "evenkeel/values.yaml")
	if _, err := Repack([]byte("text"), testSource.Time); err == nil {
		t.Error("a text is accepted as an archive")
	}
}

func TestOfFolder(t *testing.T) {
	var packed [][]byte
	for _, at := range []time.Time{time.Unix(1, 0), time.Unix(2, 0)} {
		root := t.TempDir()
		for _, name := range []string{"kustomize/evict/b.yaml", "kustomize/base/a.yaml", "other.yaml"} {
			file := filepath.Join(root, name)
			err1 := os.MkdirAll(filepath.Dir(file), 0o700)
			err2 := os.WriteFile(file, []byte(name), 0o600)
			if err := errors.Join(err1, err2, os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		data, err := OfFolder(root, "kustomize", testSource.Time)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, data)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("the times of the files change the archive")
	}
	checkMembers(t, packed[0], "kustomize/base/a.yaml", "kustomize/evict/b.yaml")
}

// checkMembers checks the files of an archive, whose content is their name.
func checkMembers(t *testing.T, archive []byte, want ...string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != h.Name || h.Mode != 0o644 || !h.ModTime.Equal(testSource.Time) || h.Uname != "" {
			t.Errorf("%+v: content %q, error %v", h, text, err)
		}
		got = append(got, h.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
