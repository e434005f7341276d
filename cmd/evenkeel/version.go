package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/internal/commit"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// version is set by the linker in releases.
var version string

// programVersion returns the version that the linker set, or else the version that the go command derives from git.
func programVersion() string { return thisBuild().Version }

func newVersion(g *globalFlags) *cobra.Command {
	var output, namespace string
	var clientOnly bool
	c := &cobra.Command{
		Use: "version", Short: "Print this program's version and the release's version", Args: commandline.NoArguments,
		Long: "Print this program's version and the release's version. The release's version is the version of\n" +
			"the current leader, or of the last leader if there is no leader now. If the command cannot find a\n" +
			"release, the command says why and still exits with 0.",
		Example: "  # Print this program's version and the release's version\n  evenkeel version\n\n  # Print only this program's version, without a cluster\n  evenkeel version --client\n\n" +
			"  # Print both versions for a script\n  evenkeel version -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(versionFormats, output) {
				return fmt.Errorf("--output: %q is not an output format (want one of %s)", output, strings.Join(versionFormats, ", "))
			}
			g.logger(cmd)
			v := versions{Client: thisBuild()}
			if !clientOnly {
				var err error
				if v.Release, err = g.releaseVersion(cmd, namespace); err != nil {
					v.ReleaseError = err.Error()
				}
			}
			return v.write(cmd.OutOrStdout(), output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "output format: text, json or yaml")
	c.Flags().BoolVar(&clientOnly, "client", false, "print only this program's version, without a cluster")
	installed.AddNamespaceFlag(c.Flags(), &namespace)
	return c
}

// releaseVersion returns what the Leases of the release say about its version.
func (g *globalFlags) releaseVersion(cmd *cobra.Command, leaseNamespace string) (*releaseInfo, error) {
	client, _, err := g.client()
	if err != nil {
		return nil, err
	}
	namespace, err := g.lookup(cmd).Namespace(cmd.Context(), client, leaseNamespace)
	if err != nil {
		return nil, err
	}
	g.progress.Start("reading the Leases of the release in namespace %s", namespace)
	defer g.progress.Stop()
	ctx, cancel := context.WithTimeout(cmd.Context(), connection.LookupTimeout)
	defer cancel()
	r, err := release.In(ctx, client, namespace, time.Now())
	if err != nil {
		return nil, connection.ExplainForbidden("get leases in namespace "+namespace, err)
	}
	return &releaseInfo{Namespace: namespace, Version: r.Version, Leader: cmp.Or(r.Holder, r.DryRunHolder),
		DryRun: r.Holder == "" && r.DryRunHolder != ""}, nil
}

// build describes how this program was built.
type build struct {
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

// releaseInfo describes the release in the cluster.
type releaseInfo struct {
	Namespace string `json:"namespace"`
	// Version is the version of the process that leads, or led last, with _ instead of +. It is empty if the
	// release does not say it.
	Version string `json:"version,omitempty"`
	// Leader is the process that leads, or "".
	Leader string `json:"leader,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
}

// versions are those of this program and of the release.
type versions struct {
	Client build `json:"client"`
	// Release is nil if it was not asked for, or not found.
	Release *releaseInfo `json:"release,omitempty"`
	// ReleaseError says why the release is not known.
	ReleaseError string `json:"releaseError,omitempty"`
}

// thisBuild returns how this program was built.
func thisBuild() build {
	b := build{Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	c := commit.OfProgram()
	b.Revision, b.RevisionTime, b.Modified = c.Revision, c.Time, c.Modified
	if info, ok := debug.ReadBuildInfo(); ok {
		b.read(info)
	}
	b.Version = cmp.Or(b.Version, "dev")
	return b
}

// read takes the version that the go command derives from git, unless the linker set one.
func (b *build) read(info *debug.BuildInfo) {
	if v := info.Main.Version; v != "(devel)" {
		b.Version = cmp.Or(b.Version, v)
	}
}

// versionFormats are the values of the flag --output.
var versionFormats = []string{"text", "json", "yaml"}

// write prints the versions in one of the versionFormats.
func (v versions) write(out io.Writer, format string) error {
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
func (v versions) escaped() versions {
	v.ReleaseError = terminal.Escape(v.ReleaseError)
	if r := v.Release; r != nil {
		v.Release = &releaseInfo{Namespace: terminal.Escape(r.Namespace), Version: terminal.Escape(r.Version), Leader: terminal.Escape(r.Leader), DryRun: r.DryRun}
	}
	return v
}

func (b build) text() string {
	text := b.Version
	if b.Revision != "" {
		text += ", revision " + b.Revision[:min(len(b.Revision), 12)]
	}
	if b.Modified {
		text += " (modified)"
	}
	return text + ", " + b.GoVersion + ", " + b.Platform
}

func (v versions) releaseText() string {
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
