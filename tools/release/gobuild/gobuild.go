// Package gobuild builds the program evenkeel for a platform. The same source and the same version of Go give
// the same bytes in any folder.
package gobuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/tools/release/source"
)

// Package is the main package of the program, relative to the root of the repository.
const Package = "./cmd/evenkeel"

// Platform is an operating system and an architecture, as the go command names them.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Build returns the program. It has no version of C and no symbol table, and it names no folder of this
// machine. Its version is that of the source, and its revision the commit.
func Build(ctx context.Context, s source.Source, p Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "evenkeel-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "evenkeel")
	env := append(os.Environ(), settings(p)...)
	if err := checkExperiments(ctx, env); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", arguments(s, out)...)
	cmd.Dir, cmd.Env = s.Root, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building evenkeel for %s: %w\n%s", p, err, strings.TrimSpace(stderr.String()))
	}
	return os.ReadFile(out)
}

// arguments are those of the go command. It records nothing from git (-buildvcs=false), because it would also record
// a version that it derives from the tags of the clone.
func arguments(s source.Source, out string) []string {
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags(s), "-o", out, Package}
}

// linkerFlags sets the version and the commit.
func linkerFlags(s source.Source) string {
	flags := []string{"-s", "-w", "-buildid=", "-X main.version=" + s.Version}
	if s.Revision == source.UnknownRevision {
		return strings.Join(flags, " ")
	}
	const commit = "-X github.com/evenkeel-project/evenkeel/internal/commit."
	flags = append(flags, commit+"revision="+s.Commit(), commit+"date="+s.Time.Format(time.RFC3339))
	if s.Dirty() {
		flags = append(flags, commit+"modified=true")
	}
	return strings.Join(flags, " ")
}

// settings are the environment variables that change the program. They are set, because the environment or the
// file of `go env -w` might set them otherwise. GOEXPERIMENT has no value that means the default, so it is
// empty, and checkExperiments checks the file.
func settings(p Platform) []string {
	return []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly",
		"GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off"}
}

// checkExperiments returns an error if the file of `go env -w` sets GOEXPERIMENT, because an empty variable does not
// override it. Other settings of the file are needed, such as that of the module proxy.
func checkExperiments(ctx context.Context, env []string) error {
	cmd := exec.CommandContext(ctx, "go", "env", "GOEXPERIMENT")
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go env GOEXPERIMENT: %w", err)
	}
	if experiments := strings.TrimSpace(string(out)); experiments != "" {
		return fmt.Errorf("`go env -w` set GOEXPERIMENT to %s, which changes the program; run `go env -u GOEXPERIMENT`", experiments)
	}
	return nil
}
