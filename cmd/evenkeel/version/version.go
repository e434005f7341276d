// Package version says which version this program has, and prints it beside that of the release in the cluster.
//
// The package decides what a version consists of. It reads nothing from the cluster.
package version

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/internal/commit"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// Build describes how this program was built.
type Build struct {
	Version string `json:"version"`
	// Revision is the commit of the source, and RevisionTime its date. They are empty if the source was no git
	// repository.
	Revision     string `json:"revision,omitempty"`
	RevisionTime string `json:"revisionTime,omitempty"`
	// Modified reports whether the source differed from the commit.
	Modified  bool   `json:"modified,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// Release describes the release in the cluster.
type Release struct {
	Namespace string `json:"namespace"`
	// Version is the version of the process that leads, or led last, with _ instead of +. It is empty if the
	// release does not say it.
	Version string `json:"version,omitempty"`
	// Leader is the process that leads, or "".
	Leader string `json:"leader,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
}

// Versions are those of this program and of the release.
type Versions struct {
	Client Build `json:"client"`
	// Release is nil if it was not asked for, or not found.
	Release *Release `json:"release,omitempty"`
	// ReleaseError says why the release is not known.
	ReleaseError string `json:"releaseError,omitempty"`
}

// Of returns how this program was built. linked is the version that the linker set, or "".
func Of(linked string) Build {
	b := Build{Version: linked, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	c := commit.OfProgram()
	b.Revision, b.RevisionTime, b.Modified = c.Revision, c.Time, c.Modified
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	b.Version = cmp.Or(b.Version, "dev")
	return b
}

// read takes the version that the go command derives from git, unless the linker set one.
func (b *Build) read(info *debug.BuildInfo) {
	if v := info.Main.Version; v != "(devel)" {
		b.Version = cmp.Or(b.Version, v)
	}
}

// Formats are the values of the flag --output.
var Formats = []string{"text", "json", "yaml"}

// Write prints the versions in one of the Formats.
func (v Versions) Write(out io.Writer, format string) error {
	switch format {
	case "json":
		enc := json.NewEncoder(terminal.JSONWriter{Writer: out})
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	case "yaml":
		text, err := yaml.Marshal(v.escaped()) // YAML cannot contain control characters
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	_, err := fmt.Fprintf(out, "Client: %s\n%s", v.Client.text(), v.escaped().releaseText())
	return err
}

// escaped returns the versions without control characters in what the cluster says.
func (v Versions) escaped() Versions {
	v.ReleaseError = terminal.Escape(v.ReleaseError)
	if r := v.Release; r != nil {
		v.Release = &Release{Namespace: terminal.Escape(r.Namespace), Version: terminal.Escape(r.Version), Leader: terminal.Escape(r.Leader), DryRun: r.DryRun}
	}
	return v
}

func (b Build) text() string {
	text := b.Version
	if b.Revision != "" {
		text += ", revision " + b.Revision[:min(len(b.Revision), 12)]
	}
	if b.Modified {
		text += " (modified)"
	}
	return text + ", " + b.GoVersion + ", " + b.Platform
}

func (v Versions) releaseText() string {
	r := v.Release
	if r == nil && v.ReleaseError == "" {
		return ""
	}
	if r == nil {
		return "Release: unknown: " + v.ReleaseError + "\n"
	}
	leader := "no leader now"
	switch {
	case r.Leader != "" && r.DryRun:
		leader = "a dry run, led by " + r.Leader
	case r.Leader != "":
		leader = "led by " + r.Leader
	}
	return fmt.Sprintf("Release: %s, in namespace %s, %s\n", cmp.Or(r.Version, "of an unknown version"), r.Namespace, leader)
}
