// Package programs provides the programs of a control plane as their projects release them: those that are on this
// machine, or downloads whose SHA-256 is the published one.
package programs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release says where a project publishes its programs. The words VERSION, ARCH and PROGRAM stand for themselves.
type release struct {
	programs []string
	// file is the address of a program, or of an archive in which the program is the file member.
	file, member string
	// checksums is the address of the SHA-256, of SHA256SUMS, or of GitHub's description of the release.
	checksums string
}

var releases = map[string]release{
	"kube": {
		programs:  []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"},
		file:      "dl.k8s.io/release/VERSION/bin/linux/ARCH/PROGRAM",
		checksums: "dl.k8s.io/release/VERSION/bin/linux/ARCH/PROGRAM.sha256",
	},
	"etcd": {
		programs:  []string{"etcd"},
		file:      "github.com/etcd-io/etcd/releases/download/VERSION/etcd-VERSION-linux-ARCH.tar.gz",
		member:    "etcd-VERSION-linux-ARCH/etcd",
		checksums: "github.com/etcd-io/etcd/releases/download/VERSION/SHA256SUMS",
	},
	"kwok": { // its releases have no file with checksums
		programs:  []string{"kwok"},
		file:      "github.com/kubernetes-sigs/kwok/releases/download/VERSION/kwok-linux-ARCH",
		checksums: "api.github.com/repos/kubernetes-sigs/kwok/releases/tags/VERSION",
	},
}

// versions are what a release may have as its version, which is part of addresses and of a folder.
var versions = regexp.MustCompile(`^v[0-9]+(\.[0-9]+)*(-[0-9a-z.]+)?$`)

// architectures are those for which all of the projects release programs.
var architectures = []string{"amd64", "arm64"}

// Off is the mirror that disables downloads, and the search on this machine.
const Off = "off"

// Source provides programs.
type Source struct {
	// Mirror is the URL below which the files are, each under the name of its host, such as
	// MIRROR/dl.k8s.io/release/... If it is empty, the files come from these hosts. Off disables downloads.
	Mirror string
	// Folder gets the programs of each release, in its subfolder RELEASE-VERSION.
	Folder string
	// Progress receives one line or two per release.
	Progress io.Writer
	// Architecture is the one of this machine if it is empty.
	Architecture string

	pause time.Duration // before the first further attempt; 1 second if it is 0
	stall time.Duration // without a byte; 30 seconds if it is 0
}

// Provide finds or downloads the programs of releases such as "etcd@v3.7.0". It returns the names of those that neither
// this machine nor a server has. A file with a wrong checksum is an error.
func (s Source) Provide(ctx context.Context, wanted []string) (missing []string, err error) {
	if err := s.checkMirror(); err != nil {
		return nil, err
	}
	s.Architecture = cmp.Or(s.Architecture, runtime.GOARCH)
	for _, w := range wanted {
		name, version, _ := strings.Cut(w, "@")
		r, ok := releases[name]
		if !ok || !versions.MatchString(version) {
			return nil, fmt.Errorf("unknown release %q (want kube@VERSION, etcd@VERSION or kwok@VERSION, with a version such as v1.37.1)", w)
		}
		folder := filepath.Join(s.Folder, name+"-"+version)
		reason := s.provide(ctx, r, version, folder)
		var wrong *wrongChecksumError
		if errors.As(reason, &wrong) || ctx.Err() != nil {
			return nil, fmt.Errorf("%s %s: %w", name, version, reason)
		}
		if reason != nil {
			s.say("%s %s is compiled: %v", name, version, reason)
			missing = append(missing, name)
		}
	}
	return missing, nil
}

func (s Source) say(format string, args ...any) {
	fmt.Fprintf(s.Progress, "lab: "+format+"\n", args...)
}

// provide fills the folder, or returns why it cannot.
func (s Source) provide(ctx context.Context, r release, version, folder string) error {
	absent := slices.DeleteFunc(slices.Clone(r.programs), func(program string) bool {
		info, err := os.Stat(filepath.Join(folder, program))
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && info.Size() > 0
	})
	switch {
	case len(absent) == 0:
		return nil
	case s.Mirror == Off:
		return errors.New("EVENKEEL_MIRROR is off")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if s.link(ctx, absent, version, folder) {
		return nil
	}
	if !slices.Contains(architectures, s.Architecture) {
		return fmt.Errorf("it is not downloaded for linux/%s (want %s)", s.Architecture, strings.Join(architectures, " or "))
	}
	host, _, _ := strings.Cut(r.file, "/")
	s.say("downloading %s %s from %s", strings.Join(absent, ", "), version, s.address(host))
	for _, program := range absent {
		expand := strings.NewReplacer("VERSION", version, "ARCH", s.Architecture, "PROGRAM", program).Replace
		if err := s.download(ctx, expand(r.file), expand(r.member), expand(r.checksums), filepath.Join(folder, program)); err != nil {
			return err
		}
	}
	s.say("the SHA-256 of each file is the published one")
	return nil
}

// link links the programs into the folder if this machine has all of them in this version.
func (s Source) link(ctx context.Context, names []string, version, folder string) bool {
	var found []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil || !hasVersion(ctx, path, version) {
			return false
		}
		if path, err = filepath.Abs(path); err != nil {
			return false
		}
		found = append(found, path)
	}
	for _, path := range found {
		to := filepath.Join(folder, filepath.Base(path))
		_ = os.Remove(to) // a link whose program is gone
		if os.Symlink(path, to) != nil {
			return false
		}
	}
	s.say("using %s %s of this machine", strings.Join(found, ", "), version)
	return true
}

// hasVersion reports whether the output of a program that prints its version has the word for it, such as v1.37.1.
func hasVersion(ctx context.Context, path, version string) bool {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second // for children that keep the output open
	output, err := cmd.Output()
	return err == nil && slices.ContainsFunc(strings.Fields(string(output)), func(word string) bool {
		return strings.TrimPrefix(word, "v") == strings.TrimPrefix(version, "v")
	})
}
