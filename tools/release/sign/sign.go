// Package sign signs images and files with a private key, in the formats that `cosign verify` and `openssl
// dgst -verify` check with the public key. It creates and keeps no key.
package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"

	"github.com/evenkeel-project/evenkeel/tools/release/checksums"
)

// How cosign stores a signature in a registry.
const (
	payloadType         = types.MediaType("application/vnd.dev.cosign.simplesigning.v1+json")
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

// Suffix is the end of the name of a signature file.
const Suffix = ".sig"

// PublicKeyFile is the file of a release with the public key.
const PublicKeyFile = "evenkeel.pub"

// Signer signs with one key.
type Signer struct{ key signature.SignerVerifier }

// New reads the private key in a PEM file: an ECDSA key on P-256, as `cosign generate-key-pair` and `openssl
// genpkey` make it. password returns the password of an encrypted key.
func New(file string, password func() ([]byte, error)) (*Signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	key, err := cryptoutils.UnmarshalPEMToPrivateKey(text, func(bool) ([]byte, error) { return password() })
	if err != nil {
		return nil, fmt.Errorf("reading the key %s: %w", file, err)
	}
	if k, ok := key.(*ecdsa.PrivateKey); !ok || k.Curve != elliptic.P256() {
		return nil, fmt.Errorf("the key %s is not an ECDSA key on the curve P-256", file)
	}
	s, err := signature.LoadSignerVerifier(key, crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("reading the key %s: %w", file, err)
	}
	return &Signer{s}, nil
}

// PublicKey returns the public key in PEM, as `cosign verify` and `openssl dgst -verify` read it.
func (s *Signer) PublicKey() ([]byte, error) {
	key, err := s.key.PublicKey()
	if err != nil {
		return nil, err
	}
	return cryptoutils.MarshalPublicKeyToPEM(key)
}

// CheckPublicKey returns an error unless the file has the public key of this signer.
func (s *Signer) CheckPublicKey(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the published public key: %w", err)
	}
	published, err := cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		return fmt.Errorf("reading the published public key %s: %w", file, err)
	}
	key, err := s.key.PublicKey()
	if err != nil {
		return err
	}
	if err := cryptoutils.EqualKeys(published, key); err != nil {
		return fmt.Errorf("the key is not the one whose public key is in %s: %w", file, err)
	}
	return nil
}

// Folder signs every file of a folder. Before, it writes the public key and a list of checksums into the folder. Older
// signatures are replaced.
func (s *Signer) Folder(folder string) (signed []string, err error) {
	key, err := s.PublicKey()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, PublicKeyFile), key, 0o644); err != nil {
		return nil, err
	}
	if err := checksums.Write(folder, Suffix); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Suffix) {
			continue
		}
		file := filepath.Join(folder, e.Name())
		if err := s.File(file); err != nil {
			return nil, err
		}
		signed = append(signed, file+Suffix)
	}
	return signed, nil
}

// File writes the signature of a file beside it, as base64 in FILE.sig.
func (s *Signer) File(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sig, err := s.key.SignMessage(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("signing %s: %w", file, err)
	}
	return os.WriteFile(file+Suffix, []byte(base64.StdEncoding.EncodeToString(sig)+"\n"), 0o644)
}

// Image signs an image in a registry: its index, if it has one, and the manifest of every platform, because container
// runtimes look for a signature of the manifest. It pushes each signature beside the image, under the tag that cosign
// looks for, and returns these tags. Signatures of other keys stay. A manifest that this key signed before is left.
func (s *Signer) Image(ctx context.Context, image name.Digest) ([]name.Tag, error) {
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	found, err := remote.Get(image, options...)
	if err != nil {
		return nil, fmt.Errorf("looking for the image: %w", err)
	}
	digests := []name.Digest{image}
	if found.MediaType.IsIndex() {
		index, err := v1.ParseIndexManifest(bytes.NewReader(found.Manifest))
		if err != nil {
			return nil, fmt.Errorf("reading the index %s: %w", image, err)
		}
		for _, m := range index.Manifests {
			digests = append(digests, image.Context().Digest(m.Digest.String()))
		}
	}
	var tags []name.Tag
	for _, digest := range digests {
		tag, err := s.manifest(digest, options)
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	return tags, nil
}

// manifest signs one manifest.
func (s *Signer) manifest(digest name.Digest, options []remote.Option) (name.Tag, error) {
	tag := digest.Context().Tag(strings.Replace(digest.DigestStr(), ":", "-", 1) + Suffix)
	before, err := existing(tag, options)
	if err != nil {
		return name.Tag{}, err
	}
	payload, sig, err := signature.SignImage(s.key, digest, nil)
	if err != nil {
		return name.Tag{}, fmt.Errorf("signing %s: %w", digest, err)
	}
	if signed, err := s.hasSigned(before, payload); err != nil || signed {
		return tag, err
	}
	signed, err := mutate.Append(before, mutate.Addendum{Layer: static.NewLayer(payload, payloadType),
		Annotations: map[string]string{signatureAnnotation: base64.StdEncoding.EncodeToString(sig)}})
	if err != nil {
		return name.Tag{}, err
	}
	if err := remote.Write(tag, signed, options...); err != nil {
		return name.Tag{}, fmt.Errorf("pushing the signature: %w", err)
	}
	return tag, nil
}

// hasSigned reports whether one of the signatures is that of this key for the payload.
func (s *Signer) hasSigned(signatures v1.Image, payload []byte) (bool, error) {
	m, err := signatures.Manifest()
	if err != nil {
		return false, fmt.Errorf("reading the signatures of the image: %w", err)
	}
	sum := sha256.Sum256(payload)
	for _, l := range m.Layers {
		sig, err := base64.StdEncoding.DecodeString(l.Annotations[signatureAnnotation])
		if err != nil || l.Digest.Hex != hex.EncodeToString(sum[:]) {
			continue
		}
		if s.key.VerifySignature(bytes.NewReader(sig), bytes.NewReader(payload)) == nil {
			return true, nil
		}
	}
	return false, nil
}

// existing returns the signatures that the image has, or none.
func existing(tag name.Tag, options []remote.Option) (v1.Image, error) {
	image, err := remote.Image(tag, options...)
	var answer *transport.Error
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		return mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the signatures of the image: %w", err)
	}
	return image, nil
}
