package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/names"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/report"
)

// completions returns where the words come from that a shell completes.
func (g *globalFlags) completions() *names.Source {
	var reports []string
	for _, f := range report.Formats() {
		reports = append(reports, string(f))
	}
	formats := map[string][]string{"version": versionFormats, "config convert": {"config", "values"}}
	for _, path := range []string{"plan", "impact", "apply", "approve", "run", "explain", "status", "history"} {
		formats[path] = reports
	}
	return &names.Source{
		Client:     g.silentClient,
		Namespace:  g.Namespace,
		Kubeconfig: g.KubeconfigNames,
		Formats:    formats,
		Strategies: func(ctx context.Context, cmd *cobra.Command) ([]string, error) {
			if err := g.checkConnection(cmd, nil); err != nil { // cobra does not run it, so --namespace selects nothing yet
				return nil, err
			}
			g.log.New(io.Discard)
			c, err := g.silentLookup(cmd).Choose(ctx, flagValue(cmd, "config"), flagValue(cmd, "lease-namespace"))
			if err != nil {
				return nil, err
			}
			var known []string
			for _, s := range c.Strategies {
				known = append(known, s.Name+"\t"+s.Type)
			}
			return known, nil
		},
		Releases: func(ctx context.Context) ([]string, error) {
			client, err := g.silentClient()
			if err != nil {
				return nil, err
			}
			found, err := installed.Find(ctx, client, time.Now())
			var namespaces []string
			for _, r := range found {
				namespaces = append(namespaces, r.Namespace)
			}
			return namespaces, err
		},
		Plans:   g.completePlans,
		Reasons: reasonCodes(),
	}
}

// completePlans returns the names of the plans that wait for approval.
func (g *globalFlags) completePlans(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	if err := g.checkConnection(cmd, nil); err != nil {
		return nil, err
	}
	g.log.New(io.Discard)
	client, rc, err := g.client()
	if err != nil {
		return nil, err
	}
	namespace, err := g.silentLookup(cmd).Namespace(ctx, client, flagValue(cmd, "lease-namespace"))
	if err != nil {
		return nil, err
	}
	kinds, err := objects.New(rc, namespace)
	if err != nil {
		return nil, err
	}
	plans, err := waiting.New(kinds).Load(ctx, nil)
	var out []string
	for _, p := range plans.Waiting {
		out = append(out, fmt.Sprintf("%s\t%s, since %s", p.Name, plural.Count(len(p.Moves), "move"), p.Since.Format(time.RFC3339)))
	}
	return out, err
}

// silentLookup returns the search for the release of a command, without a progress line.
func (g *globalFlags) silentLookup(cmd *cobra.Command) *installed.Lookup {
	return &installed.Lookup{Command: cmd, Connect: g.client}
}

// silentClient connects to the cluster without a log on the terminal.
func (g *globalFlags) silentClient() (kubernetes.Interface, error) {
	g.log.New(io.Discard)
	client, _, err := g.client()
	return client, err
}

// flagValue returns the value of a flag, or "" if the command lacks it.
func flagValue(cmd *cobra.Command, name string) string {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
