package image

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// Annotations of an OCI layout that programs read when they import it.
const (
	tagAnnotation  = "org.opencontainers.image.ref.name"
	nameAnnotation = "io.containerd.image.name"
)

// Write writes the index into a folder as an OCI image layout, and validates what it wrote. imageName is the
// name that containerd gives the image when it imports the layout; it may be empty. Write replaces an earlier
// layout. It returns an error if the folder has other content.
func Write(folder string, index v1.ImageIndex, version, imageName string) error {
	if err := removeLayout(folder); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	about := map[string]string{tagAnnotation: version}
	if imageName != "" {
		about[nameAnnotation] = imageName + ":" + version
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(about)); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	written, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return err
	}
	if err := validate.Index(written); err != nil {
		return fmt.Errorf("%s is not a valid image: %w", folder, err)
	}
	return nil
}

// removeLayout removes an OCI layout. A folder that does not exist, or that is empty, is left.
func removeLayout(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, "oci-layout")); err != nil {
		return fmt.Errorf("%s contains something else than an image; empty it or choose another folder", folder)
	}
	return os.RemoveAll(folder)
}

// Read returns the index in a layout that Write wrote.
func Read(folder string) (v1.ImageIndex, error) {
	outer, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the image: %w", err)
	}
	m, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) != 1 {
		return nil, fmt.Errorf("%s has %d images, want 1", folder, len(m.Manifests))
	}
	return outer.ImageIndex(m.Manifests[0].Digest)
}
