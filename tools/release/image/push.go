package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// Repository parses the name of an image without tag and digest. It must begin with a registry, so that no image is
// pushed to a public registry by mistake.
func Repository(text string) (name.Repository, error) {
	repository, err := name.NewRepository(text, name.StrictValidation)
	if err != nil {
		return name.Repository{}, fmt.Errorf("want REGISTRY/NAME without a tag, such as registry.example.com/evenkeel: %w", err)
	}
	return repository, nil
}

// Push sends the index to a repository, without a tag. Then it reads everything back by the digest, validates it,
// and returns the name with the digest. Credentials are those of the configuration file of docker or podman.
func Push(ctx context.Context, to name.Repository, index v1.ImageIndex) (name.Digest, error) {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	digest, err := index.Digest()
	if err != nil {
		return name.Digest{}, err
	}
	pushed := to.Digest(digest.String())
	if err := remote.WriteIndex(pushed, index, options...); err != nil {
		return name.Digest{}, fmt.Errorf("pushing the image to %s: %w", to, err)
	}
	got, err := remote.Index(pushed, options...)
	if err != nil {
		return name.Digest{}, fmt.Errorf("reading the pushed image: %w", err)
	}
	if err := validate.Index(got); err != nil {
		return name.Digest{}, fmt.Errorf("%s is not a valid image: %w", pushed, err)
	}
	return pushed, nil
}

// CheckTag returns an error if the tag names another digest than that of the image.
func CheckTag(ctx context.Context, image name.Digest, version string) error {
	tag := image.Context().Tag(version)
	before, err := Published(ctx, tag)
	if err != nil {
		return err
	}
	if before == nil || before.Digest.String() == image.DigestStr() {
		return nil
	}
	return fmt.Errorf("%s exists and is another image, %s, which clusters may use; "+
		"push under another tag with VERSION=..., or replace that image with REPLACE=yes", tag, before.Digest)
}

// Tag sets the tag of a pushed image. It replaces the tag of another image; CheckTag finds that before.
func Tag(ctx context.Context, image name.Digest, version string) error {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	pushed, err := remote.Get(image, options...)
	if err != nil {
		return fmt.Errorf("looking for the image: %w", err)
	}
	if err := remote.Tag(image.Context().Tag(version), pushed, options...); err != nil {
		return fmt.Errorf("setting the tag %s of %s: %w", version, image, err)
	}
	return nil
}

// Published returns what a tag names, or nil if the registry has no such tag.
func Published(ctx context.Context, tag name.Tag) (*remote.Descriptor, error) {
	got, err := get(ctx, tag)
	var answer *transport.Error
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking whether %s exists: %w (REPLACE=yes pushes without this check)", tag, err)
	}
	return got, nil
}

// get reads a manifest with a token that permits a push. With a token that permits reading only, some registries deny
// access to a repository that does not exist yet.
func get(ctx context.Context, tag name.Tag) (*remote.Descriptor, error) {
	repository := tag.Context()
	auth, err := authn.Resolve(ctx, authn.DefaultKeychain, repository)
	if err != nil {
		return nil, err
	}
	scopes := []string{repository.Scope(transport.PushScope)}
	t, err := transport.NewWithContext(ctx, repository.Registry, auth, remote.DefaultTransport, scopes)
	if err != nil {
		return nil, err
	}
	return remote.Get(tag, remote.WithContext(ctx), remote.WithTransport(t))
}
