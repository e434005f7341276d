package sign

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

func noPassword() ([]byte, error) { return nil, errors.New("no password is expected") }

// newSigner writes a new key to a file, and returns a signer with it and its public key.
func newSigner(t *testing.T, curve elliptic.Curve) (string, *ecdsa.PublicKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, &key.PublicKey
}

// verifies checks a signature as `openssl dgst -sha256 -verify` does.
func verifies(t *testing.T, key *ecdsa.PublicKey, data []byte, signature string) bool {
	t.Helper()
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(signature))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return ecdsa.VerifyASN1(key, sum[:], sig)
}

func TestFile(t *testing.T) {
	keyFile, public := newSigner(t, elliptic.P256())
	s, err := New(keyFile, noPassword)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "evenkeel.tar.gz")
	if err := os.WriteFile(file, []byte("archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.File(file); err != nil {
		t.Fatal(err)
	}
	sig, err := os.ReadFile(file + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	_, other := newSigner(t, elliptic.P256())
	if !verifies(t, public, []byte("archive"), string(sig)) {
		t.Error("the signature is wrong")
	}
	if verifies(t, public, []byte("Archive"), string(sig)) || verifies(t, other, []byte("archive"), string(sig)) {
		t.Error("the signature fits another file or another key")
	}
}

// TestFolder checks every file of a folder as a user of a release does: with the public key, and with the list of
// checksums.
func TestFolder(t *testing.T) {
	keyFile, public := newSigner(t, elliptic.P256())
	s, err := New(keyFile, noPassword)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := []string{"a.cdx.json", "evenkeel.pub", "evenkeel.tgz"}
	for _, name := range []string{files[0], files[2], files[2] + ".sig", "checksums.txt"} { // the last two are of another run
		if err := os.WriteFile(filepath.Join(folder, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	signed, err := s.Folder(folder)
	if err != nil || len(signed) != len(files)+1 {
		t.Fatalf("signed %v, error %v", signed, err)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	published, err := cryptoutils.UnmarshalPEMToPublicKey(read("evenkeel.pub"))
	if err != nil || !public.Equal(published) {
		t.Errorf("evenkeel.pub is another key (%v)", err)
	}
	var list strings.Builder
	for _, name := range files {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(read(name)), name)
	}
	if got := string(read("checksums.txt")); got != list.String() {
		t.Errorf("checksums.txt:\n%swant:\n%s", got, list.String())
	}
	for _, name := range append(files, "checksums.txt") {
		if !verifies(t, public, read(name), string(read(name+".sig"))) {
			t.Errorf("the signature of %s is wrong", name)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "kustomize"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Folder(folder); err == nil {
		t.Error("a folder in the folder is accepted, though it cannot be signed")
	}
}

// TestImage signs an image twice with each of two keys. The index and the manifest of each platform must have one
// signature of each key.
func TestImage(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository, err := name.NewRepository(strings.TrimPrefix(server.URL, "http://") + "/team/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	index, err := random.Index(64, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	image := repository.Digest(digest.String())
	first, public := newSigner(t, elliptic.P256())
	s, err := New(first, noPassword)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Image(t.Context(), image); err == nil || !strings.HasPrefix(err.Error(), "looking for the image") {
		t.Errorf("an image that is not there: %v", err)
	}
	if err := remote.WriteIndex(repository.Tag("1"), index); err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	digests := []v1.Hash{digest, manifest.Manifests[0].Digest, manifest.Manifests[1].Digest}
	var tags []string
	for _, d := range digests {
		tags = append(tags, repository.Tag("sha256-"+d.Hex+".sig").String())
	}
	second, otherPublic := newSigner(t, elliptic.P256())
	for _, key := range []string{first, second, first, second} {
		s, err := New(key, noPassword)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := s.Image(t.Context(), image)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(signed); got != fmt.Sprint(tags) {
			t.Errorf("signatures %s, want %s", got, tags)
		}
	}
	for _, d := range digests {
		checkSignatures(t, server.URL, repository, d, public, otherPublic)
	}
}

// checkSignatures reads the signatures of a manifest by HTTP, as cosign's specification of signatures says. There must
// be one of each key, in this order.
func checkSignatures(t *testing.T, server string, repository name.Repository, digest v1.Hash, keys ...*ecdsa.PublicKey) {
	t.Helper()
	base := server + "/v2/" + repository.RepositoryStr()
	var manifest struct {
		Layers []struct {
			MediaType, Digest string
			Annotations       map[string]string
		}
	}
	decode(t, get(t, base+"/manifests/sha256-"+digest.Hex+".sig"), &manifest)
	if len(manifest.Layers) != len(keys) {
		t.Fatalf("%d signatures, want one of each key", len(manifest.Layers))
	}
	for i, key := range keys {
		l := manifest.Layers[i]
		payload, sig := get(t, base+"/blobs/"+l.Digest), l.Annotations["dev.cosignproject.cosign/signature"]
		if l.MediaType != "application/vnd.dev.cosign.simplesigning.v1+json" || !verifies(t, key, payload, sig) {
			t.Errorf("signature %d (%s) is wrong", i, l.MediaType)
		}
		if verifies(t, key, append(payload, ' '), sig) {
			t.Errorf("signature %d fits another text", i)
		}
		var signed struct {
			Critical struct {
				Identity struct {
					Reference string `json:"docker-reference"`
				}
				Image struct {
					Digest string `json:"docker-manifest-digest"`
				}
				Type string
			}
		}
		decode(t, payload, &signed)
		c := signed.Critical
		if c.Image.Digest != digest.String() || c.Identity.Reference != repository.Name() || c.Type != "cosign container image signature" {
			t.Errorf("signature %d is for %+v", i, c)
		}
	}
}

// TestCheckPublicKey checks that a key is compared with the public key that users know.
func TestCheckPublicKey(t *testing.T) {
	keyFile, _ := newSigner(t, elliptic.P256())
	otherFile, _ := newSigner(t, elliptic.P256())
	s, err1 := New(keyFile, noPassword)
	other, err2 := New(otherFile, noPassword)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	text, err := s.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "evenkeel.pub")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckPublicKey(file); err != nil {
		t.Error(err)
	}
	if err := other.CheckPublicKey(file); err == nil || !strings.HasPrefix(err.Error(), "the key is not the one whose public key is in ") {
		t.Errorf("another key: %v", err)
	}
	if err := s.CheckPublicKey(file + "x"); err == nil {
		t.Error("a file that does not exist is accepted")
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return text
}

func TestEncryptedKey(t *testing.T) {
	text, _, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc([]byte("secret")))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(file, func() ([]byte, error) { return []byte("secret"), nil }); err != nil {
		t.Error(err)
	}
	if _, err := New(file, func() ([]byte, error) { return []byte("wrong"), nil }); err == nil {
		t.Error("a wrong password is accepted")
	}
}

func TestWrongKeys(t *testing.T) {
	other, _ := newSigner(t, elliptic.P384())
	noKey := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(noKey, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{other: "is not an ECDSA key on the curve P-256", noKey: "reading the key", noKey + "x": "no such file"} {
		if _, err := New(file, noPassword); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", file, err, want)
		}
	}
}
