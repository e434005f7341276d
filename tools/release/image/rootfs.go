package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
)

// UserID is the user and group of the process. Images without a shell use this number by convention.
const UserID = 65532

// programPath is the path of the program in the image.
const programPath = "/evenkeel"

// file is a file of the image, which root owns.
type file struct {
	path string // without a leading slash
	mode int64
	data []byte
}

// baseFiles returns the files that are the same for all platforms.
func baseFiles(texts []licenses.File) ([]file, error) {
	pem, err := authorities()
	if err != nil {
		return nil, err
	}
	const passwd = "root:x:0:0:root:/nonexistent:/nonexistent\nevenkeel:x:%[1]d:%[1]d:evenkeel:/nonexistent:/nonexistent\n"
	files := []file{
		{"etc/passwd", 0o644, fmt.Appendf(nil, passwd, UserID)},
		{"etc/group", 0o644, fmt.Appendf(nil, "root:x:0:\nevenkeel:x:%d:\n", UserID)},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, pem},
	}
	for _, t := range texts {
		files = append(files, file{"licenses/" + t.Path, 0o644, t.Data})
	}
	return files, nil
}

// newLayer returns a layer with the files and their folders. It depends on nothing else: entries are sorted,
// and their times are the beginning of 1970.
func newLayer(files []file) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := writeFiles(w, files); err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func writeFiles(w *tar.Writer, files []file) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
	written := map[string]bool{}
	for _, f := range files {
		if err := writeFolders(w, path.Dir(f.path), written); err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.data)), ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// writeFolders writes a folder after its parents, each once.
func writeFolders(w *tar.Writer, folder string, written map[string]bool) error {
	if folder == "." || written[folder] {
		return nil
	}
	written[folder] = true
	if err := writeFolders(w, path.Dir(folder), written); err != nil {
		return err
	}
	name := strings.TrimSuffix(folder, "/") + "/"
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, ModTime: time.Unix(0, 0)})
}
