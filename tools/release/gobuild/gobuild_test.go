package gobuild

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

const commitPackage = "github.com/evenkeel-project/evenkeel/internal/commit"

func TestLinkerFlags(t *testing.T) {
	const start = "-s -w -buildid= -X main.version=1.2.3"
	const committed = start + " -X " + commitPackage + ".revision=abc -X " + commitPackage + ".date=2026-01-02T03:04:05Z"
	for revision, want := range map[string]string{
		"abc":                  committed,
		"abc-dirty":            committed + " -X " + commitPackage + ".modified=true",
		source.UnknownRevision: start,
	} {
		s := source.Source{Version: "1.2.3", Revision: revision, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		if got := linkerFlags(s); got != want {
			t.Errorf("revision %s:\n got %s\nwant %s", revision, got, want)
		}
	}
}

// TestTheMainPackageHasAVersion checks a variable that the linker sets, because it ignores names that do not exist.
func TestTheMainPackageHasAVersion(t *testing.T) {
	if text := read(t, "../../../cmd/evenkeel/version.go"); !strings.Contains(text, "\nvar version string\n") {
		t.Error("cmd/evenkeel does not declare the variable version")
	}
}

// TestBuild builds a small program with the package commit of the repository. A clone with a tag, in another folder
// and with other settings of Go, must give the same bytes.
func TestBuild(t *testing.T) {
	s := source.Source{Version: "1.2.3", Revision: "abc-dirty", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	platform := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	build := func(root string) []byte {
		s.Root = root
		binary, err := Build(t.Context(), s, platform)
		if err != nil {
			t.Fatal(err)
		}
		return binary
	}
	first := build(newModule(t))
	tagged := newModule(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "first"}, {"tag", "v0.99.0"}} {
		git(t, tagged, args...)
	}
	t.Setenv("GOFLAGS", "-buildvcs=true -ldflags=-X=main.version=9")
	t.Setenv("GOAMD64", "v3")
	if second := build(tagged); !bytes.Equal(first, second) {
		t.Errorf("the programs differ: the second says %q", runProgram(t, second))
	}
	if got, want := runProgram(t, first), "1.2.3 abc 2026-01-02T03:04:05Z true\n"; got != want {
		t.Errorf("the program says %q, want %q", got, want)
	}
}

// TestBuildWithAnExperiment checks that a program is not built with an experiment of the file of `go env -w`, which no
// variable overrides.
func TestBuildWithAnExperiment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("GOEXPERIMENT=arenas\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", file)
	_, err := Build(t.Context(), source.Source{Root: t.TempDir()}, Platform{OS: runtime.GOOS, Arch: runtime.GOARCH})
	if err == nil || !strings.Contains(err.Error(), "GOEXPERIMENT to arenas") {
		t.Errorf("error %v", err)
	}
}

// newModule writes a module whose program prints its version and its commit.
func newModule(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module github.com/evenkeel-project/evenkeel\n\ngo 1.26.0\n",
		"cmd/evenkeel/main.go": `package main

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/internal/commit"
)

var version string

func main() {
	c := commit.OfProgram()
	fmt.Println(version, c.Revision, c.Time, c.Modified)
}
`,
		"internal/commit/commit.go": read(t, "../../../internal/commit/commit.go"),
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func runProgram(t *testing.T, binary []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
