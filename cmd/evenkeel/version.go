package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/releaseconfig"
	programversion "github.com/evenkeel-project/evenkeel/cmd/evenkeel/version"
	"github.com/evenkeel-project/evenkeel/controller/release"
)

// version is set by the linker in releases.
var version string

// programVersion returns the version that the linker set, or else the version that the go command derives from git.
func programVersion() string { return programversion.Of(version).Version }

func newVersion(g *globalFlags) *cobra.Command {
	var output, namespace string
	var clientOnly bool
	c := &cobra.Command{
		Use: "version", Short: "Print the versions of this program and of the release", Args: rejectArguments,
		Long: "Print the version of this program, and of the release in the cluster: the version of the process\n" +
			"that leads, or that led last. If the release cannot be found, the command says why, and still\nexits with 0.",
		Example: "  # Both versions\n  evenkeel version\n\n  # That of this program only, without a cluster\n  evenkeel version --client\n\n" +
			"  # Both for a script\n  evenkeel version -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(programversion.Formats, output) {
				return fmt.Errorf("--output: %q is not an output format (want one of %s)", output, strings.Join(programversion.Formats, ", "))
			}
			g.logger(cmd)
			v := programversion.Versions{Client: programversion.Of(version)}
			if !clientOnly {
				var err error
				if v.Release, err = g.releaseVersion(cmd, namespace); err != nil {
					v.ReleaseError = err.Error()
				}
			}
			return v.Write(cmd.OutOrStdout(), output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text, json or yaml")
	c.Flags().BoolVar(&clientOnly, "client", false, "only the version of this program; needs no cluster")
	releaseconfig.AddNamespaceFlag(c.Flags(), &namespace)
	return c
}

// releaseVersion returns what the Leases of the release say about its version.
func (g *globalFlags) releaseVersion(cmd *cobra.Command, leaseNamespace string) (*programversion.Release, error) {
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
	return &programversion.Release{Namespace: namespace, Version: r.Version, Leader: cmp.Or(r.Holder, r.DryRunHolder),
		DryRun: r.Holder == "" && r.DryRunHolder != ""}, nil
}
