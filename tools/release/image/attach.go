package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
)

// Program returns the program for a platform from a layout that Write wrote, and the labels of its image.
func Program(folder string, p gobuild.Platform) ([]byte, map[string]string, error) {
	image, err := ofPlatform(folder, p)
	if err != nil {
		return nil, nil, err
	}
	about, err := image.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	binary, err := fileOf(image, programPath)
	return binary, about.Config.Labels, err
}

// AuthoritiesVersion returns the version of AuthoritiesModule that the image for a platform says it has.
func AuthoritiesVersion(folder string, p gobuild.Platform) (string, error) {
	image, err := ofPlatform(folder, p)
	if err != nil {
		return "", err
	}
	list, err := fileOf(image, "/licenses/MODULES")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(list)) {
		if module, version, _ := strings.Cut(strings.TrimSpace(line), " "); module == AuthoritiesModule && version != "" {
			return version, nil
		}
	}
	return "", fmt.Errorf("the licenses of the image do not name %s", AuthoritiesModule)
}

// ofPlatform returns the image for a platform from a layout.
func ofPlatform(folder string, p gobuild.Platform) (v1.Image, error) {
	index, err := Read(folder)
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, d := range m.Manifests {
		if d.Platform != nil && d.Platform.OS == p.OS && d.Platform.Architecture == p.Arch {
			return index.Image(d.Digest)
		}
	}
	return nil, fmt.Errorf("%s has no image for %s", folder, p)
}

// fileOf returns a file of an image.
func fileOf(image v1.Image, path string) ([]byte, error) {
	files := mutate.Extract(image)
	defer files.Close()
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the image has no %s", path)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the image: %w", err)
		}
		if "/"+h.Name == path {
			return io.ReadAll(r)
		}
	}
}

// Attach pushes a document about an image, such as an SBOM, as an OCI artifact that refers to the image.
// Registries list it among the referrers of the image.
func Attach(ctx context.Context, to name.Digest, mediaType string, document []byte) (name.Digest, error) {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	subject, err := remote.Head(to, options...)
	if err != nil {
		return name.Digest{}, fmt.Errorf("looking for the image: %w", err)
	}
	artifact, err := newArtifact(*subject, mediaType, document)
	if err != nil {
		return name.Digest{}, err
	}
	digest, err := artifact.Digest()
	if err != nil {
		return name.Digest{}, err
	}
	attached := to.Context().Digest(digest.String())
	if err := remote.Write(attached, artifact, options...); err != nil {
		return name.Digest{}, fmt.Errorf("attaching the document: %w", err)
	}
	return attached, nil
}

func newArtifact(subject v1.Descriptor, mediaType string, document []byte) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.MediaType(mediaType))
	artifact, err := mutate.AppendLayers(base, static.NewLayer(document, types.MediaType(mediaType)))
	if err != nil {
		return nil, err
	}
	about := v1.Descriptor{MediaType: subject.MediaType, Size: subject.Size, Digest: subject.Digest}
	return mutate.Subject(artifact, about).(v1.Image), nil
}
