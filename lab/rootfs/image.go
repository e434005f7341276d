// Package rootfs reads container images, unpacks their root file system, and runs their program in it, as a
// container runtime does: under chroot, read-only, with the image's user and entrypoint. It reads images by
// the OCI image and distribution specifications, and shares no code with the tool that makes Evenkeel's image.
package rootfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Media types of the OCI image specification.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// maxDocument is the largest manifest or image configuration that is read, in bytes. Registries have the same limit.
const maxDocument = 4 << 20

// Descriptor refers to content by its digest.
type Descriptor struct {
	MediaType string
	Digest    string
	Size      int64
	Platform  *struct{ OS, Architecture string }
}

// Config is the part of an image's configuration that says how to run it.
type Config struct {
	OS, Architecture string
	Created          string
	Config           struct {
		User       string
		Entrypoint []string
		Env        []string
		WorkingDir string
		Labels     map[string]string
	}
	RootFS struct {
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// Image is the image for one platform.
type Image struct {
	Config
	// IndexDigest is the digest of the index of all platforms.
	IndexDigest string
	layers      []Descriptor
	store       store
}

// store has the content of images. kind is manifests or blobs.
type store interface {
	open(ctx context.Context, kind, reference string) (io.ReadCloser, error)
}

// FromLayout returns the image for a platform in an OCI image layout, whose index.json has one entry.
func FromLayout(ctx context.Context, folder, system, architecture string) (*Image, error) {
	text, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		return nil, err
	}
	var outer struct{ Manifests []Descriptor }
	if err := json.Unmarshal(text, &outer); err != nil {
		return nil, fmt.Errorf("index.json: %w", err)
	}
	if len(outer.Manifests) != 1 {
		return nil, fmt.Errorf("index.json of %s has %d images, want 1", folder, len(outer.Manifests))
	}
	return fromIndex(ctx, layoutStore(folder), outer.Manifests[0].Digest, system, architecture)
}

// FromRegistry returns the image for a platform in a registry without TLS. name is REGISTRY/NAME. reference is
// a tag or a digest.
func FromRegistry(ctx context.Context, name, reference, system, architecture string) (*Image, error) {
	host, repository, found := strings.Cut(name, "/")
	if !found {
		return nil, fmt.Errorf("%s is no REGISTRY/NAME", name)
	}
	s := registryStore("http://" + host + "/v2/" + repository)
	if strings.HasPrefix(reference, "sha256:") {
		return fromIndex(ctx, s, reference, system, architecture)
	}
	r, err := s.open(ctx, "manifests", reference)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxDocument))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return fromIndex(ctx, s, "sha256:"+hex.EncodeToString(sum[:]), system, architecture)
}

func fromIndex(ctx context.Context, s store, digest, system, architecture string) (*Image, error) {
	var index struct {
		MediaType string
		Manifests []Descriptor
	}
	if err := readJSON(ctx, s, "manifests", Descriptor{Digest: digest, Size: -1}, &index); err != nil {
		return nil, err
	}
	if index.MediaType != indexType {
		return nil, fmt.Errorf("%s is %s, want %s", digest, index.MediaType, indexType)
	}
	for _, d := range index.Manifests {
		if d.Platform != nil && d.Platform.OS == system && d.Platform.Architecture == architecture {
			return fromManifest(ctx, s, digest, d)
		}
	}
	return nil, fmt.Errorf("%s has no image for %s/%s", digest, system, architecture)
}

func fromManifest(ctx context.Context, s store, index string, d Descriptor) (*Image, error) {
	var manifest struct {
		MediaType string
		Config    Descriptor
		Layers    []Descriptor
	}
	if err := readJSON(ctx, s, "manifests", d, &manifest); err != nil {
		return nil, err
	}
	if manifest.MediaType != manifestType || manifest.Config.MediaType != configType {
		return nil, fmt.Errorf("%s is %s with a %s", d.Digest, manifest.MediaType, manifest.Config.MediaType)
	}
	image := &Image{IndexDigest: index, layers: manifest.Layers, store: s}
	if err := readJSON(ctx, s, "blobs", manifest.Config, &image.Config); err != nil {
		return nil, err
	}
	if image.OS != d.Platform.OS || image.Architecture != d.Platform.Architecture || len(image.RootFS.DiffIDs) != len(image.layers) {
		return nil, fmt.Errorf("the configuration %s does not fit its manifest", manifest.Config.Digest)
	}
	return image, nil
}

// readJSON reads a document and checks its size and its digest.
func readJSON(ctx context.Context, s store, kind string, d Descriptor, into any) error {
	r, err := s.open(ctx, kind, d.Digest)
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxDocument))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != d.Digest || d.Size >= 0 && int64(len(text)) != d.Size {
		return fmt.Errorf("%s has %d bytes with digest %s, want %d bytes", d.Digest, len(text), got, d.Size)
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(into)
}

// layoutStore is the folder of an OCI image layout.
type layoutStore string

func (s layoutStore) open(_ context.Context, _, reference string) (io.ReadCloser, error) {
	algorithm, sum, _ := strings.Cut(reference, ":")
	return os.Open(filepath.Join(string(s), "blobs", algorithm, filepath.Base(sum)))
}

// registryStore is the address of a repository in a registry.
type registryStore string

func (s registryStore) open(ctx context.Context, kind, reference string) (io.ReadCloser, error) {
	url := fmt.Sprintf("%s/%s/%s", s, kind, reference)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if kind == "manifests" {
		r.Header["Accept"] = []string{indexType, manifestType}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("GET %s: %s", url, answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}
