// Package image makes the container image without a container engine: an OCI index of one image per platform, on an
// empty base. The same source and the same version of Go give the same digest.
//
// The package writes the image to a folder or to a registry. It decides neither the version nor what the chart does
// with it.
package image

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/evenkeel-project/evenkeel/tools/release/gobuild"
	"github.com/evenkeel-project/evenkeel/tools/release/licenses"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// Platforms are the platforms of the image.
var Platforms = []gobuild.Platform{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}

// Build builds the program for every platform and returns the index of the images.
func Build(ctx context.Context, s source.Source) (v1.ImageIndex, error) {
	texts, err := texts(ctx, s.Root)
	if err != nil {
		return nil, err
	}
	files, err := baseFiles(texts)
	if err != nil {
		return nil, err
	}
	base, err := newLayer(files)
	if err != nil {
		return nil, err
	}
	programs := map[gobuild.Platform][]byte{}
	for _, p := range Platforms {
		if programs[p], err = gobuild.Build(ctx, s, p); err != nil {
			return nil, err
		}
	}
	return newIndex(s, base, programs)
}

// texts returns the licenses of the image: of the program, of Go, and of the certificates.
func texts(ctx context.Context, root string) ([]licenses.File, error) {
	modules, err1 := licenses.OfProgram(ctx, root, Platforms)
	language, err2 := licenses.OfGo(ctx, root)
	certificates, err3 := licenses.OfModule(ctx, filepath.Join(root, "tools", "release"), AuthoritiesModule)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return licenses.Folder(append(modules, language, certificates)), nil
}

func newIndex(s source.Source, base v1.Layer, programs map[gobuild.Platform][]byte) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range Platforms {
		image, err := newImage(s, p, base, programs[p])
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", p, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch}}})
	}
	return mutate.Annotations(index, annotations(s)).(v1.ImageIndex), nil
}

// newImage returns the image of a platform. The program is a layer of its own, so that a new version whose
// other files did not change needs no second copy of them.
func newImage(s source.Source, p gobuild.Platform, base v1.Layer, binary []byte) (v1.Image, error) {
	layer, err := newLayer([]file{{programPath[1:], 0o755, binary}})
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: s.Time}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	user := fmt.Sprintf("%[1]d:%[1]d", UserID)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{OS: p.OS, Architecture: p.Arch, Created: created,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, Entrypoint: []string{programPath}, WorkingDir: "/", Labels: annotations(s)}})
	if err != nil {
		return nil, err
	}
	history := func(what string) v1.History { return v1.History{Created: created, CreatedBy: what} }
	image, err = mutate.Append(image,
		mutate.Addendum{Layer: base, History: history("certificate authorities, licenses, user")},
		mutate.Addendum{Layer: layer, History: history("evenkeel " + s.Version)})
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(image, annotations(s)).(v1.Image), nil
}

// annotations describe the image by the keys of the OCI image specification.
func annotations(s source.Source) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       "evenkeel",
		prefix + "description": "Rebalances a Kubernetes cluster by evicting few pods",
		prefix + "source":      source.URL,
		prefix + "version":     s.Version,
		prefix + "revision":    s.Revision,
		prefix + "licenses":    "Apache-2.0",
		prefix + "created":     s.Time.Format(time.RFC3339),
	}
}
