package archives

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OfFolder packs a folder in root, by its name, as a compressed tar archive. Every member has the given time, so the
// same files give the same bytes.
func OfFolder(root, name string, at time.Time) ([]byte, error) {
	var files []file
	err := filepath.WalkDir(filepath.Join(root, name), func(path string, d fs.DirEntry, err error) error { // in order
		if err != nil || d.IsDir() {
			return err
		}
		data, err1 := os.ReadFile(path)
		relative, err2 := filepath.Rel(root, path)
		files = append(files, file{name: filepath.ToSlash(relative), data: data})
		return errors.Join(err1, err2)
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeTar(&b, at, files)
	return b.Bytes(), err
}

// Repack returns a compressed tar archive with the files of another one, sorted by name. Every member has the
// given time and no owner, so the same files give the same bytes.
func Repack(archive []byte, at time.Time) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var files []file
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%s is not a regular file", h.Name)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: h.Name, data: data})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	err = writeTar(&b, at, files)
	return b.Bytes(), err
}
