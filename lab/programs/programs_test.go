package programs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// mirror serves files, and counts the requests for each path.
type mirror struct {
	files   map[string][]byte
	special map[string]http.HandlerFunc
	address string
	mu      sync.Mutex
	asked   map[string]int
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.asked[r.URL.Path]++
	m.mu.Unlock()
	if answer := m.special[r.URL.Path]; answer != nil {
		answer(w, r)
	} else if body, ok := m.files[r.URL.Path]; ok {
		_, _ = w.Write(body)
	} else {
		http.NotFound(w, r)
	}
}

func (m *mirror) total() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, asked := range m.asked {
		n += asked
	}
	return n
}

const (
	kubePath = "/dl.k8s.io/release/v1.37.1/bin/linux/amd64/"
	etcdPath = "/github.com/etcd-io/etcd/releases/download/v3.7.0/"
	kwokFile = "/github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-amd64"
	kwokInfo = "/api.github.com/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0"
)

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func newMirror(t *testing.T) (*mirror, Source, *bytes.Buffer) {
	t.Helper()
	m := &mirror{files: map[string][]byte{}, special: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	for _, p := range releases["kube"].programs {
		m.files[kubePath+p] = []byte("program " + p)
		m.files[kubePath+p+".sha256"] = []byte(sum(m.files[kubePath+p]))
	}
	const archive = "etcd-v3.7.0-linux-amd64.tar.gz"
	m.files[etcdPath+archive] = archiveOf(t, "etcd-v3.7.0-linux-amd64/README.md", "etcd-v3.7.0-linux-amd64/etcd")
	m.files[etcdPath+"SHA256SUMS"] = fmt.Appendf(nil, "%s  other.zip\n%s  %s\n", sum(nil), sum(m.files[etcdPath+archive]), archive)
	m.files[kwokFile] = []byte("program kwok")
	m.files[kwokInfo] = fmt.Appendf(nil, `{"assets": [{"name": "kwokctl-linux-amd64", "digest": "sha256:%s"}, {"name": "kwok-linux-amd64", "digest": "sha256:%s"}]}`,
		sum(nil), sum(m.files[kwokFile]))
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.address = server.URL
	t.Setenv("PATH", t.TempDir())
	var said bytes.Buffer
	return m, Source{Mirror: server.URL, Folder: t.TempDir(), Progress: &said, Architecture: "amd64", pause: time.Millisecond}, &said
}

func archiveOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	files := tar.NewWriter(z)
	for _, name := range names {
		text := "program " + filepath.Base(name)
		must.Succeed(t, files.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}))
		_, err := files.Write([]byte(text))
		must.Succeed(t, err)
	}
	must.Succeed(t, files.Close())
	must.Succeed(t, z.Close())
	return out.Bytes()
}

var all = []string{"kube@v1.37.1", "etcd@v3.7.0", "kwok@v0.8.0"}

// programsIn returns the files below a folder.
func programsIn(t *testing.T, folder string) string {
	t.Helper()
	var found []string
	must.Succeed(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	}))
	return strings.Join(found, " ")
}

const allFiles = "etcd-v3.7.0/etcd kube-v1.37.1/kube-apiserver kube-v1.37.1/kube-controller-manager kube-v1.37.1/kube-scheduler kwok-v0.8.0/kwok"

func TestProgramsAreDownloadedOnce(t *testing.T) {
	m, s, said := newMirror(t)
	for range 2 {
		missing, err := s.Provide(t.Context(), all)
		if err != nil || len(missing) > 0 {
			t.Fatalf("missing %v (%v)\n%s", missing, err, said)
		}
	}
	if got := programsIn(t, s.Folder); got != allFiles {
		t.Errorf("got %s, want %s", got, allFiles)
	}
	text, err := os.ReadFile(filepath.Join(s.Folder, "etcd-v3.7.0/etcd"))
	info, _ := os.Stat(filepath.Join(s.Folder, "etcd-v3.7.0/etcd"))
	if err != nil || string(text) != "program etcd" || info.Mode().Perm() != 0o755 {
		t.Errorf("etcd is %q with mode %v (%v)", text, info.Mode(), err)
	}
	if m.total() != 10 {
		t.Errorf("%d requests, want 10: a file and a checksum for each program", m.total())
	}
}

// TestReasonsToCompile checks that a release that cannot be downloaded is compiled, that the line says why, and that
// nothing remains of its program. The other releases are downloaded.
func TestReasonsToCompile(t *testing.T) {
	const scheduler = kubePath + "kube-scheduler"
	for name, test := range map[string]struct {
		prepare func(*mirror, *Source)
		missing string
		said    string
		asked   map[string]int
	}{
		"no such release": {func(m *mirror, _ *Source) { delete(m.files, kwokInfo) }, "kwok",
			"kwok v0.8.0 is compiled: SERVER" + kwokInfo + " answers 404 Not Found", map[string]int{kwokInfo: 1, kwokFile: 0}},
		"no checksum": {func(m *mirror, _ *Source) {
			m.files[kwokInfo] = []byte(`{"assets": [{"name": "kwok-linux-amd64", "digest": null}]}`)
		}, "kwok",
			kwokInfo + " has no single SHA-256 of kwok-linux-amd64", map[string]int{kwokFile: 0}},
		"checksum of another length": {func(m *mirror, _ *Source) { m.files[scheduler+".sha256"] = []byte("abcd") }, "kube",
			"has no single SHA-256 of kube-scheduler", map[string]int{scheduler: 0}},
		"two checksums in a file": {func(m *mirror, _ *Source) {
			m.files[scheduler+".sha256"] = append([]byte(sum(m.files[scheduler])+"\n"), sum(nil)...)
		}, "kube", "has no single SHA-256 of kube-scheduler", map[string]int{scheduler: 0}},
		"two checksums of a file": {func(m *mirror, _ *Source) {
			m.files[kwokInfo] = fmt.Appendf(nil, `{"assets": [{"name": "kwok-linux-amd64", "digest": "sha256:%s"}, {"name": "kwok-linux-amd64", "digest": "sha256:%s"}]}`,
				sum(nil), sum(m.files[kwokFile]))
		}, "kwok", "has no single SHA-256 of kwok-linux-amd64", map[string]int{kwokFile: 0}},
		"broken off each time": {func(m *mirror, _ *Source) {
			m.special[scheduler] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = w.Write([]byte("partial"))
			}
		}, "kube", "unexpected EOF (3 attempts)", map[string]int{scheduler: 3}},
		"silent": {func(m *mirror, s *Source) {
			s.stall = 20 * time.Millisecond
			m.special[scheduler] = func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("partial"))
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		}, "kube", "sent nothing for 20ms (3 attempts)", map[string]int{scheduler: 3}},
		"server error": {func(m *mirror, _ *Source) {
			m.special[etcdPath+"SHA256SUMS"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, "etcd", "answers 502 Bad Gateway (3 attempts)", map[string]int{etcdPath + "SHA256SUMS": 3}},
		"too large": {func(m *mirror, _ *Source) {
			m.special[scheduler] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(maxFile+1))
			}
		}, "kube", "kube-scheduler has more than 400 MB", map[string]int{scheduler: 1}},
		"too large, without a length": {func(m *mirror, _ *Source) {
			m.special[scheduler+".sha256"] = func(w http.ResponseWriter, _ *http.Request) {
				for range maxChecksums>>10 + 1 {
					_, _ = w.Write(make([]byte, 1<<10))
				}
			}
		}, "kube", "kube-scheduler.sha256 has more than 1 MB", map[string]int{scheduler: 0}},
		"redirect to HTTP": {func(m *mirror, _ *Source) {
			m.special[scheduler] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://192.0.2.1/kube-scheduler", http.StatusFound)
			}
		}, "kube", "redirects to http://192.0.2.1/kube-scheduler, which is not HTTPS", map[string]int{scheduler: 1}},
		"archive without the program": {func(m *mirror, _ *Source) {
			const archive = etcdPath + "etcd-v3.7.0-linux-amd64.tar.gz"
			m.files[etcdPath+"SHA256SUMS"] = bytes.ReplaceAll(m.files[etcdPath+"SHA256SUMS"], []byte(sum(m.files[archive])), []byte(sum([]byte("x"))))
			m.files[archive] = []byte("x")
		}, "etcd", "etcd-v3.7.0-linux-amd64.tar.gz: ", nil},
		"another architecture": {func(_ *mirror, s *Source) { s.Architecture = "riscv64" }, "kube etcd kwok",
			"etcd v3.7.0 is compiled: it is not downloaded for linux/riscv64 (want amd64 or arm64)", map[string]int{kwokInfo: 0}},
		"an unreachable server": {func(_ *mirror, s *Source) { s.Mirror = "http://127.0.0.1:1" }, "kube etcd kwok",
			"connect: connection refused (3 attempts)", nil},
		"no network": {func(_ *mirror, s *Source) { s.Mirror = "https://mirror.invalid" }, "kube etcd kwok", "mirror.invalid", nil},
		"off":        {func(_ *mirror, s *Source) { s.Mirror = Off }, "kube etcd kwok", "kube v1.37.1 is compiled: EVENKEEL_MIRROR is off", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, s, said := newMirror(t)
			test.prepare(m, &s)
			missing, err := s.Provide(t.Context(), all)
			if err != nil || strings.Join(missing, " ") != test.missing {
				t.Errorf("missing %v (%v), want %s", missing, err, test.missing)
			}
			if want := strings.ReplaceAll(test.said, "SERVER", m.address); !strings.Contains(said.String(), want) {
				t.Errorf("it says %s, want %s", said, want)
			}
			for path, want := range test.asked {
				if m.asked[path] != want {
					t.Errorf("%d requests for %s, want %d", m.asked[path], path, want)
				}
			}
			for _, missing := range missing {
				last := releases[missing].programs[len(releases[missing].programs)-1]
				if got := programsIn(t, s.Folder); strings.Contains(got, "/"+last) || strings.Contains(got, ".download") {
					t.Errorf("the folder has %s", got)
				}
			}
		})
	}
}

func TestADownloadThatBreaksOffIsRepeated(t *testing.T) {
	m, s, said := newMirror(t)
	const file = kubePath + "kube-apiserver"
	m.special[file] = func(w http.ResponseWriter, _ *http.Request) {
		if m.asked[file] < attempts {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("a longer part than the file"))
			return
		}
		_, _ = w.Write(m.files[file])
	}
	if missing, err := s.Provide(t.Context(), all); err != nil || len(missing) > 0 {
		t.Errorf("missing %v (%v)\n%s", missing, err, said)
	}
}

func TestAWrongChecksumIsAnError(t *testing.T) {
	for _, file := range []string{kubePath + "kube-scheduler", etcdPath + "etcd-v3.7.0-linux-amd64.tar.gz", kwokFile} {
		m, s, _ := newMirror(t)
		m.files[file] = append([]byte("more"), m.files[file]...)
		_, err := s.Provide(t.Context(), all)
		if err == nil || !strings.Contains(err.Error(), "SHA-256") || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: got the error %v", file, err)
		}
		if got := programsIn(t, s.Folder); strings.Contains(got, strings.TrimSuffix(filepath.Base(file), "-linux-amd64")) || strings.Contains(got, ".download") || m.asked[file] != 1 {
			t.Errorf("%s: the folder has %s, %d requests", file, got, m.asked[file])
		}
	}
}

func TestAddresses(t *testing.T) {
	for mirror, want := range map[string]string{"": "https://dl.k8s.io/release", "https://m.example.com/a/": "https://m.example.com/a/dl.k8s.io/release"} {
		if got := (Source{Mirror: mirror}).address("dl.k8s.io/release"); got != want {
			t.Errorf("with mirror %q: %s, want %s", mirror, got, want)
		}
	}
}

func TestTheMirrorIsHTTPSOrOnThisMachine(t *testing.T) {
	for _, bad := range []string{"http://mirror.example.com", "mirror.example.com", "https://", "file:///tmp", "http://localhost:1"} {
		if _, err := (Source{Mirror: bad}).Provide(t.Context(), nil); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestProgramsOfThisMachine checks that programs in the PATH are used if all those of a release have the version.
func TestProgramsOfThisMachine(t *testing.T) {
	m, s, said := newMirror(t)
	for name, output := range map[string]string{"kwok": "kwok version v0.8.0 go1.26.8 (linux/amd64)", "etcd": "etcd Version: 3.7.0\nGit SHA: x",
		"kube-apiserver": "Kubernetes v1.37.1", "kube-scheduler": "Kubernetes v1.37.1", "kube-controller-manager": "Kubernetes v1.37.2"} {
		script := "#!/bin/sh\necho '" + output + "'\n"
		must.Succeed(t, os.WriteFile(filepath.Join(os.Getenv("PATH"), name), []byte(script), 0o755))
	}
	missing, err := s.Provide(t.Context(), all)
	if err != nil || len(missing) > 0 || programsIn(t, s.Folder) != allFiles {
		t.Fatalf("missing %v (%v), the folder has %s", missing, err, programsIn(t, s.Folder))
	}
	if m.total() != 6 || !strings.Contains(said.String(), "using "+os.Getenv("PATH")+"/etcd v3.7.0 of this machine") {
		t.Errorf("%d requests, want 6 for the release of which one program has another version: %s", m.total(), said)
	}
	if to, err := os.Readlink(filepath.Join(s.Folder, "kwok-v0.8.0/kwok")); err != nil || to != os.Getenv("PATH")+"/kwok" {
		t.Errorf("kwok is a link to %s (%v)", to, err)
	}
}

// TestAVersionIsNoPath checks that a version cannot leave the folder, or the path of its release on a server.
func TestAVersionIsNoPath(t *testing.T) {
	for _, wanted := range []string{"kube@", "kube@../../bin", "kube@v1.37.1/../x", "etcd@v3?x", "kube@1.37.1", "other@v1"} {
		s := Source{Folder: t.TempDir(), Mirror: Off}
		if _, err := s.Provide(t.Context(), []string{wanted}); err == nil || !strings.Contains(err.Error(), "unknown release") {
			t.Errorf("%s: %v, want an error about an unknown release", wanted, err)
		}
	}
}
