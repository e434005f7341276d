// Package source says from which state of the repository a release is made: its version, its commit and the time of
// the commit. It only reads.
package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// URL is where the source code is published.
const URL = "https://github.com/evenkeel-project/evenkeel"

// UnknownRevision is the revision of a folder without git.
const UnknownRevision = "unknown"

// versionPattern matches versions that may be the tag of an image.
var versionPattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]{0,127}$`)

// Source is a state of the repository.
type Source struct {
	Root string // folder of the repository
	// Version is the version of the release, such as 0.1.0, without a leading v.
	Version string
	// Revision is the commit. It ends in -dirty if the folder differs from the commit.
	Revision string
	// Time is the time of the commit in UTC. The environment variable SOURCE_DATE_EPOCH replaces it.
	Time time.Time
}

// Read returns the state of the repository in a folder. An empty version means the appVersion of the chart,
// because that is the tag that the chart pulls.
func Read(ctx context.Context, root, version string) (Source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return Source{}, err
	}
	s := Source{Root: root, Version: strings.TrimPrefix(version, "v"), Revision: UnknownRevision, Time: time.Unix(0, 0).UTC()}
	if s.Version == "" {
		c, err := readChart(root)
		if err != nil {
			return Source{}, err
		}
		s.Version = c.AppVersion
	}
	if !versionPattern.MatchString(s.Version) {
		return Source{}, fmt.Errorf("version %q: want letters, digits, dots and dashes only, such as 0.1.0", s.Version)
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		if err := s.readCommit(ctx); err != nil {
			return Source{}, err
		}
	}
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
		if s.Time, err = parseSeconds(text); err != nil {
			return Source{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
	}
	return s, nil
}

// dirty ends the revision of a folder that differs from the commit.
const dirty = "-dirty"

// Dirty reports whether files differ from the commit.
func (s Source) Dirty() bool { return strings.HasSuffix(s.Revision, dirty) }

// Commit returns the commit, also if files differ from it.
func (s Source) Commit() string { return strings.TrimSuffix(s.Revision, dirty) }

// OfTag returns the version of a tag, such as 0.1.0 of v0.1.0. It is an error if the chart has another version or
// appVersion.
func OfTag(root, tag string) (string, error) {
	c, err := readChart(root)
	if err != nil {
		return "", err
	}
	for key, version := range map[string]string{"version": c.Version, "appVersion": c.AppVersion} {
		if tag != "v"+version {
			return "", fmt.Errorf("the tag is %s, but %s of the chart is %q (want the tag v%[3]s)", tag, key, version)
		}
	}
	return c.Version, nil
}

// chart has the versions in Chart.yaml.
type chart struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion"`
}

func readChart(root string) (c chart, err error) {
	file := filepath.Join(root, "charts", "evenkeel", "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("reading the version: %w", err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("reading the version from %s: %w", file, err)
	}
	if c.AppVersion == "" {
		return c, fmt.Errorf("%s has no appVersion; set VERSION", file)
	}
	return c, nil
}

func (s *Source) readCommit(ctx context.Context) error {
	commit, err1 := git(ctx, s.Root, "rev-parse", "HEAD")
	seconds, err2 := git(ctx, s.Root, "log", "-1", "--format=%ct")
	changes, err3 := git(ctx, s.Root, "status", "--porcelain", "--untracked-files=normal")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	s.Revision = commit
	if changes != "" {
		s.Revision += dirty
	}
	var err error
	s.Time, err = parseSeconds(seconds)
	return err
}

func parseSeconds(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is no number of seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
