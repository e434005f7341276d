// Package archives packs the program for people who run it on their own machine: one archive for each platform, with
// the licenses of everything that is linked into the program. The same source and the same version of Go give the same
// bytes. docs/adr/releases.md says why goreleaser is not used.
package archives

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// Platforms are the platforms that have an archive.
var Platforms = []gobuild.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}, {OS: "darwin", Arch: "amd64"},
	{OS: "darwin", Arch: "arm64"}, {OS: "windows", Arch: "amd64"}}

// Archive is a written archive.
type Archive struct {
	Platform gobuild.Platform
	Name     string // of the file
	SHA256   string // in hexadecimal
}

// SBOMName returns the name of the file with the SBOM of the program in the archive.
func (a Archive) SBOMName() string {
	return strings.TrimSuffix(strings.TrimSuffix(a.Name, ".zip"), ".tar.gz") + ".cdx.json"
}

// file is a member of an archive.
type file struct {
	name       string
	data       []byte
	executable bool
}

// Write builds the program for every platform and writes the archives into a folder.
func Write(ctx context.Context, s source.Source, folder string) ([]Archive, error) {
	texts, err := texts(ctx, s.Root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var out []Archive
	for _, p := range Platforms {
		binary, err := gobuild.Build(ctx, s, p)
		if err != nil {
			return nil, err
		}
		a, data, err := pack(s, p, append([]file{{"evenkeel", binary, true}}, texts...))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, a.Name), data, 0o644); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// texts are the files beside the program.
func texts(ctx context.Context, root string) ([]file, error) {
	var out []file
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "config.yaml"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		out = append(out, file{name: name, data: data})
	}
	modules, err := licenses.OfProgram(ctx, root, Platforms)
	if err != nil {
		return nil, err
	}
	golang, err := licenses.OfGo(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, f := range licenses.Folder(append(modules, golang)) {
		out = append(out, file{name: "licenses/" + f.Path, data: f.Data})
	}
	return out, nil
}

// pack makes a zip archive for Windows, and a compressed tar archive for the others.
func pack(s source.Source, p gobuild.Platform, files []file) (Archive, []byte, error) {
	a := Archive{Platform: p, Name: fmt.Sprintf("evenkeel_%s_%s_%s.tar.gz", s.Version, p.OS, p.Arch)}
	write := writeTar
	if p.OS == "windows" {
		a.Name = strings.TrimSuffix(a.Name, ".tar.gz") + ".zip"
		files[0].name += ".exe"
		write = writeZip
	}
	var b bytes.Buffer
	if err := write(&b, s.Time, files); err != nil {
		return Archive{}, nil, fmt.Errorf("packing %s: %w", a.Name, err)
	}
	sum := sha256.Sum256(b.Bytes())
	a.SHA256 = hex.EncodeToString(sum[:])
	return a, b.Bytes(), nil
}

func (f file) mode() os.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

func writeTar(b *bytes.Buffer, at time.Time, files []file) error {
	z := gzip.NewWriter(b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode()), Size: int64(len(f.data)), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return z.Close()
}

func writeZip(b *bytes.Buffer, at time.Time, files []file) error {
	w := zip.NewWriter(b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode())
		part, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}
