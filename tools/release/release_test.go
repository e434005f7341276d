package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/tools/release/image"
	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// A releaseRun runs the scripts of the job release of release.yml in a clone of the last commit. The registry is
// on this machine, and the programs gh and docker are replaced.
type releaseRun struct {
	clone, temp, published string // published is the folder of the fake gh
	registry, version      string
	env                    map[string]string // of all steps
	secrets                map[string]string
	job                    job
}

// fakeGH keeps one release in the folder $PUBLISHED: its files, its notes, and its name and whether it is a draft.
const fakeGH = `#!/bin/bash
set -eu
case "$1 $2" in
"release list") cat "$PUBLISHED/state" 2>/dev/null || true ;;
"release create")
	[ "$4 $5 $6 $7 $8" = "--draft --verify-tag --title $3 --notes-file" ] && [ ! -e "$PUBLISHED/state" ]
	cp "$9" "$PUBLISHED/notes.md"; echo "$3 true" > "$PUBLISHED/state" ;;
"release upload") [ "$4" = --clobber ] && mkdir -p "$PUBLISHED/files" && cp "${@:5}" "$PUBLISHED/files" ;;
"release edit") [ "$4" = --draft=false ] && echo "$3 false" > "$PUBLISHED/state" ;;
*) echo "unexpected: gh $*" >&2; exit 1 ;;
esac
`

func newReleaseRun(t *testing.T) *releaseRun {
	t.Helper()
	dir := t.TempDir()
	r := &releaseRun{clone: filepath.Join(dir, "clone"), temp: filepath.Join(dir, "temp"), published: filepath.Join(dir, "published"),
		registry: newRegistry(t)}
	runGit(t, "../..", "clone", "-q", ".", r.clone)
	s, err := source.Read(t.Context(), r.clone, "")
	if err != nil {
		t.Fatal(err)
	}
	r.version = s.Version
	programs := filepath.Join(dir, "programs")
	for _, folder := range []string{r.temp, r.published, programs} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for program, script := range map[string]string{"gh": fakeGH, "docker": "#!/bin/sh\ncat > /dev/null\n"} {
		if err := os.WriteFile(filepath.Join(programs, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(dir, "evenkeel.key")
	runCommand(t, "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
	runCommand(t, "openssl", "pkey", "-in", key, "-pubout", "-out", filepath.Join(r.clone, "evenkeel.pub"))
	runGit(t, r.clone, "add", "evenkeel.pub")
	runGit(t, r.clone, "commit", "-q", "-m", "add the public key")
	private, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	r.secrets = map[string]string{"COSIGN_KEY": string(private), "COSIGN_PASSWORD": "", "GITHUB_TOKEN": "token"}
	r.env = map[string]string{"GITHUB_REF_NAME": "v" + r.version, "GITHUB_ACTOR": "someone", "RUNNER_TEMP": r.temp, "PUBLISHED": r.published,
		"GITHUB_ENV": filepath.Join(r.temp, "env"), "PATH": programs + ":" + os.Getenv("PATH")}
	w, _ := readWorkflow(t, filepath.Join(r.clone, ".github/workflows/release.yml"))
	r.job = w.Jobs["release"]
	for name := range r.job.Env {
		if name != "REGISTRY" {
			t.Fatalf("the job has a variable %s, which this test does not set", name)
		}
		r.env[name] = r.registry
	}
	return r
}

func runCommand(t *testing.T, command string, args ...string) {
	t.Helper()
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", command, args, err, out)
	}
}

var secretExpression = regexp.MustCompile(`\$\{\{ secrets\.(\w+) \}\}`)

// step runs the script of a step as GitHub does, and reads the variables that it sets for later steps.
func (r *releaseRun) step(t *testing.T, s step) error {
	t.Helper()
	env := maps.Clone(r.env)
	for name, value := range s.Env {
		env[name] = secretExpression.ReplaceAllStringFunc(value, func(e string) string {
			return r.secrets[secretExpression.FindStringSubmatch(e)[1]]
		})
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", s.Run)
	cmd.Dir, cmd.Env = r.clone, os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("%s (%s): %v\n%s", s.Name, time.Since(begin).Round(time.Second), err, out)
	set, readErr := os.ReadFile(r.env["GITHUB_ENV"])
	if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
		t.Fatal(readErr)
	}
	for line := range strings.Lines(string(set)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		r.env[name] = value
	}
	return err
}

// steps runs the scripts of the job, without the last ones.
func (r *releaseRun) steps(t *testing.T, without int) {
	t.Helper()
	for _, s := range r.job.Steps[:len(r.job.Steps)-without] {
		if s.Run == "" {
			continue // the checkout and the installation of Go
		}
		if err := r.step(t, s); err != nil {
			t.Fatalf("step %q: %v", s.Name, err)
		}
	}
}

// TestRelease makes a release of the last commit, whose first run ends before the publication. The second run must
// change nothing but signatures of files, although all files have other times. The third refuses a published
// release.
func TestRelease(t *testing.T) {
	if os.Getenv("EVENKEEL_TEST_RELEASE") == "" {
		t.Skip("takes minutes; run `make test-release`")
	}
	r := newReleaseRun(t)
	r.steps(t, 1)
	tags, files := r.tags(t), r.checksums(t)
	runCommand(t, "find", filepath.Join(r.clone, "charts"), filepath.Join(r.clone, "deploy"), "-exec", "touch", "-d", "2001-02-03", "{}", "+")
	if state := r.file(t, "state"); state != "v"+r.version+" true\n" {
		t.Errorf("before the publication, the release is %q", state)
	}
	r.steps(t, 0)
	if diff := cmp.Diff(tags, r.tags(t)); diff != "" {
		t.Errorf("the second run changed the registry (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(files, r.checksums(t)); diff != "" {
		t.Errorf("the second run changed files (-first +second):\n%s", diff)
	}
	if state := r.file(t, "state"); state != "v"+r.version+" false\n" {
		t.Errorf("after the publication, the release is %q", state)
	}
	refused := slices.IndexFunc(r.job.Steps, func(s step) bool { return strings.Contains(s.Run, "gh release list") })
	if err := r.step(t, r.job.Steps[refused]); err == nil {
		t.Error("a published release is made again")
	}
	r.checkImage(t)
	r.checkChart(t)
	r.checkFiles(t)
}

func (r *releaseRun) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.published, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tags returns the digest of every tag of image and chart.
func (r *releaseRun) tags(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range []string{"/evenkeel", "/charts/evenkeel"} {
		repository, err := image.Repository(r.registry + path)
		if err != nil {
			t.Fatal(err)
		}
		tags, err := remote.List(repository)
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range tags {
			out[path+":"+tag] = r.manifest(t, repository.Tag(tag)).Digest.String()
		}
	}
	return out
}

func (r *releaseRun) manifest(t *testing.T, reference name.Reference) *remote.Descriptor {
	t.Helper()
	got, err := remote.Get(reference)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// checksums returns the SHA-256 of the files of the release, without signatures.
func (r *releaseRun) checksums(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.published, "files"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sig") {
			out[e.Name()] = fmt.Sprintf("%x", sha256.Sum256([]byte(r.file(t, "files/"+e.Name()))))
		}
	}
	return out
}

// index returns the index of the image, which has the tag of the version, and its name.
func (r *releaseRun) index(t *testing.T) (*remote.Descriptor, name.Digest) {
	t.Helper()
	repository, err := image.Repository(r.registry + "/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	index := r.manifest(t, repository.Tag(r.version))
	return index, repository.Digest(index.Digest.String())
}

// checkImage checks the signatures of the image's index and of both manifests, and its SBOM.
func (r *releaseRun) checkImage(t *testing.T) {
	t.Helper()
	index, pushed := r.index(t)
	list, err := v1.ParseIndexManifest(bytes.NewReader(index.Manifest))
	if err != nil || len(list.Manifests) != len(image.Platforms) {
		t.Fatalf("%d manifests, error %v", len(list.Manifests), err)
	}
	for _, d := range append(list.Manifests, index.Descriptor) {
		r.checkSignature(t, pushed.Context().Digest(d.Digest.String()))
	}
	referrers, err := remote.Referrers(pushed)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := referrers.IndexManifest(); err != nil || len(m.Manifests) != 1 {
		t.Errorf("the image has %d documents, want one SBOM (%v)", len(m.Manifests), err)
	}
}

// checkChart checks that the registry has the package of the release, with a signature.
func (r *releaseRun) checkChart(t *testing.T) {
	t.Helper()
	repository, err := image.Repository(r.registry + "/charts/evenkeel")
	if err != nil {
		t.Fatal(err)
	}
	got := r.manifest(t, repository.Tag(r.version))
	m, err := v1.ParseManifest(bytes.NewReader(got.Manifest))
	if err != nil || len(m.Layers) != 1 || m.Layers[0].Digest.Hex != r.checksums(t)["evenkeel-"+r.version+".tgz"] {
		t.Errorf("the registry has another package than the release: %s (%v)", got.Manifest, err)
	}
	r.checkSignature(t, repository.Digest(got.Digest.String()))
}

// checkSignature checks that a manifest has one signature, which the key of the repository verifies.
func (r *releaseRun) checkSignature(t *testing.T, digest name.Digest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.clone, "evenkeel.pub"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := remote.Image(digest.Context().Tag(strings.Replace(digest.DigestStr(), ":", "-", 1) + ".sig"))
	if err != nil {
		t.Fatal(err)
	}
	layers, err1 := signatures.Layers()
	m, err2 := signatures.Manifest()
	if err := errors.Join(err1, err2); err != nil || len(layers) != 1 {
		t.Fatalf("%s has %d signatures, error %v", digest, len(layers), err)
	}
	blob, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	payload, err := io.ReadAll(blob)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(m.Layers[0].Annotations["dev.cosignproject.cosign/signature"])
	sum := sha256.Sum256(payload)
	if err != nil || !ecdsa.VerifyASN1(key.(*ecdsa.PublicKey), sum[:], signature) || !strings.Contains(string(payload), digest.DigestStr()) {
		t.Errorf("the signature of %s is wrong (%v): %s", digest, err, payload)
	}
}

// checkFiles checks the files of the release as SECURITY.md tells users to, and what refers to them.
func (r *releaseRun) checkFiles(t *testing.T) {
	t.Helper()
	sums := r.checksums(t)
	want := []string{"checksums.txt", "evenkeel-VERSION.tgz", "evenkeel.pub", "evenkeel.yaml", "evenkeel_VERSION_darwin_amd64.cdx.json",
		"evenkeel_VERSION_darwin_amd64.tar.gz", "evenkeel_VERSION_darwin_arm64.cdx.json", "evenkeel_VERSION_darwin_arm64.tar.gz",
		"evenkeel_VERSION_linux_amd64.cdx.json", "evenkeel_VERSION_linux_amd64.tar.gz", "evenkeel_VERSION_linux_arm64.cdx.json",
		"evenkeel_VERSION_linux_arm64.tar.gz", "evenkeel_VERSION_windows_amd64.cdx.json", "evenkeel_VERSION_windows_amd64.zip",
		"install.yaml", "kustomize.tar.gz", "sbom.cdx.json"}
	var got []string
	for _, file := range slices.Sorted(maps.Keys(sums)) {
		got = append(got, strings.ReplaceAll(file, r.version, "VERSION"))
		runCommand(t, "bash", "-ec", `cd "$0"; base64 -d "$1.sig" > "$2"; openssl dgst -sha256 -verify "$3" -signature "$2" "$1"`,
			filepath.Join(r.published, "files"), file, filepath.Join(r.temp, "sig"), filepath.Join(r.clone, "evenkeel.pub"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the release (-want +got):\n%s", diff)
	}
	runCommand(t, "bash", "-ec", `cd "$0"; sha256sum --check --strict checksums.txt`, filepath.Join(r.published, "files"))
	_, pushed := r.index(t)
	if !strings.Contains(r.file(t, "files/install.yaml"), "image: "+pushed.String()+"\n") {
		t.Errorf("install.yaml does not name %s", pushed)
	}
	runCommand(t, "bash", "-ec", `"$0/bin/helm" template evenkeel "$1/files/evenkeel-$2.tgz" | grep -F "image: \"$3\""`, r.clone, r.published, r.version, pushed.String())
	if notes := r.file(t, "notes.md"); notes == "" || strings.Contains(notes, "## ") {
		t.Errorf("the notes are empty or have several sections:\n%s", notes)
	}
	for _, module := range []string{image.AuthoritiesModule, "k8s.io/client-go"} {
		if !slices.Contains(r.components(t, "files/sbom.cdx.json"), module) {
			t.Errorf("sbom.cdx.json lacks %s", module)
		}
	}
	r.checkKrew(t, sums)
}

func (r *releaseRun) components(t *testing.T, file string) (names []string) {
	t.Helper()
	var bom struct{ Components []struct{ Name string } }
	if err := json.Unmarshal([]byte(r.file(t, file)), &bom); err != nil {
		t.Fatal(err)
	}
	for _, c := range bom.Components {
		names = append(names, c.Name)
	}
	return names
}

// checkKrew checks the checksums in the manifest for krew, whose form `make release-files` checks.
func (r *releaseRun) checkKrew(t *testing.T, sums map[string]string) {
	t.Helper()
	var manifest struct {
		Spec struct {
			Platforms []struct{ URI, SHA256 string }
		}
	}
	if err := yaml.Unmarshal([]byte(r.file(t, "files/evenkeel.yaml")), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Spec.Platforms) != 5 {
		t.Errorf("the manifest for krew has %d platforms, want 5", len(manifest.Spec.Platforms))
	}
	for _, p := range manifest.Spec.Platforms {
		if sums[filepath.Base(p.URI)] != p.SHA256 {
			t.Errorf("the manifest for krew says %s for %s, want %s", p.SHA256, p.URI, sums[filepath.Base(p.URI)])
		}
	}
}
