//go:build linux

package imagetest

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/rootfs"
)

// layout is the folder of the image under test.
var layout = os.Getenv("EVENKEEL_IMAGE")

// unpack returns the image for an architecture and the folder with its files.
func unpack(t *testing.T, architecture string) (*rootfs.Image, string) {
	t.Helper()
	image := must.Get(rootfs.FromLayout(t.Context(), layout, "linux", architecture))(t)
	root := filepath.Join(t.TempDir(), "rootfs")
	if err := os.Mkdir(root, 0o755); err != nil { // the parent admits root only
		t.Fatal(err)
	}
	must.Succeed(t, image.Unpack(t.Context(), root))
	return image, root
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(path...)))(t)
	return string(text)
}

func TestFiles(t *testing.T) {
	for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(architecture, func(t *testing.T) {
			image, root := unpack(t, architecture)
			if c := image.Config.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/evenkeel"}) {
				t.Errorf("user %s, entrypoint %v", c.User, c.Entrypoint)
			}
			if user := "\nevenkeel:x:65532:65532:"; !strings.Contains(read(t, root, "etc/passwd"), user) || !strings.Contains(read(t, root, "etc/group"), "\nevenkeel:x:65532:") {
				t.Errorf("/etc/passwd or /etc/group lacks %q", user)
			}
			checkProgram(t, filepath.Join(root, "evenkeel"), machine)
			checkModes(t, root)
			checkLicenses(t, root)
		})
	}
}

// checkProgram checks that the program is for the machine and needs no file of a C library.
func checkProgram(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	f := must.Get(elf.Open(path))(t)
	defer f.Close()
	if f.Machine != machine {
		t.Errorf("the program is for %s, want %s", f.Machine, machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is linked dynamically (%s)", p.Type)
		}
	}
	const most = 72 << 20
	if info, err := os.Stat(path); err != nil || info.Size() > most {
		t.Errorf("the program has %d bytes, want at most %d (%v)", info.Size(), most, err)
	}
}

// checkModes checks that only the program can be executed, that nobody but root can write, and that nothing
// gains rights.
func checkModes(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o644)
		if name, _ := filepath.Rel(root, path); name == "evenkeel" {
			want = 0o755
		}
		if d.IsDir() {
			want = fs.ModeDir | 0o755
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %s, want %s", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkLicenses compares the folder of licences with the modules that the linker recorded in the program.
func checkLicenses(t *testing.T, root string) {
	t.Helper()
	info := must.Get(buildinfo.ReadFile(filepath.Join(root, "evenkeel")))(t)
	list := read(t, root, "licenses/MODULES")
	names := []string{info.Main.Path, "go", "golang.org/x/crypto/x509roots/fallback"}
	for _, m := range info.Deps {
		names = append(names, m.Path)
		if !strings.Contains(list, "\n"+m.Path+" "+m.Version+"\n") {
			t.Errorf("/licenses/MODULES lacks %s %s", m.Path, m.Version)
		}
	}
	if len(info.Deps) < 30 {
		t.Errorf("the program has %d modules; it was not built with the go command", len(info.Deps))
	}
	for _, name := range names {
		texts, err := filepath.Glob(filepath.Join(root, "licenses", name, "LICEN[CS]E*"))
		if err != nil || len(texts) == 0 {
			t.Errorf("/licenses has no licence of %s (%v)", name, err)
		}
	}
	if !strings.Contains(read(t, root, "licenses", info.Main.Path, "NOTICE"), "Evenkeel") {
		t.Error("/licenses lacks the NOTICE of Evenkeel")
	}
	if !strings.Contains(list, "\ngo "+info.GoVersion+"\n") {
		t.Errorf("/licenses/MODULES lacks go %s", info.GoVersion)
	}
}

// TestAuthorities checks that each block of the bundle is a certificate authority.
func TestAuthorities(t *testing.T) {
	_, root := unpack(t, "amd64")
	rest, count := []byte(read(t, root, "etc/ssl/certs/ca-certificates.crt")), 0
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		count++
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !cert.IsCA {
			t.Errorf("block %d is no certificate authority: %v", count, err)
		}
	}
	if count < 100 || len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("the bundle has %d authorities and the further text %q", count, rest)
	}
}

// TestVersion runs the program of this machine's architecture in the image.
func TestVersion(t *testing.T) {
	c := newContainer(t)
	var out bytes.Buffer
	cmd := c.Command([]string{"version"}, nil)
	cmd.Stdout, cmd.Stderr = &out, &out
	must.Succeed(t, c.Start(cmd))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("evenkeel version: %v\n%s", err, out.String())
	}
	line, _, _ := bufio.NewReader(&out).ReadLine()
	if want := c.Config.Config.Labels["org.opencontainers.image.version"]; want == "" || !strings.Contains(string(line), want) {
		t.Errorf("evenkeel version prints %q, the image says %q", line, want)
	}
}
