package releasecommand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/cleanup"
)

const (
	defaultCleanupTimeout = 90 * time.Second // pods end within 60 s, and the Lease of a killed process 15 s later
	cleanupPollInterval   = time.Second
)

type cleanupFlags struct {
	config, namespace  string
	wait, hintsTimeout time.Duration
	skipHints          bool
}

func newCleanup(a *Access) *cobra.Command {
	f := &cleanupFlags{}
	c := &cobra.Command{
		Use: "cleanup", Short: "Remove an uninstalled release's hints, state and Leases", Args: commandline.NoArguments,
		Long: "Remove what an uninstalled release left behind: its hints on nodes, and the ConfigMaps and Leases\n" +
			"in its namespace. The Helm chart runs this command after `helm uninstall`. The command removes\n" +
			"nothing if the namespace still has an Evenkeel Deployment or CronJob, or if an Evenkeel process\n" +
			"still holds the Lease.",
		Example: "  # Clean up after you uninstalled the release in the namespace evenkeel\n  evenkeel cleanup --lease-namespace evenkeel",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, a) },
	}
	c.Flags().StringVar(&f.namespace, "lease-namespace", "", "namespace of the uninstalled release (required)")
	c.Flags().StringVar(&f.config, "config", installed.Builtin, "the release's configuration file, or builtin; the configuration names the hints' label and taint")
	c.Flags().DurationVar(&f.wait, "wait", defaultCleanupTimeout, "how long to wait until no process holds the Lease any more")
	c.Flags().DurationVar(&f.hintsTimeout, "hints-timeout", removalTimeout, "how long the command may spend on reading nodes and removing hints, before it removes the ConfigMaps and Leases")
	c.Flags().BoolVar(&f.skipHints, "skip-hints", false, "do not remove hints from nodes; the command then needs no permission for nodes")
	return c
}

func (f *cleanupFlags) run(cmd *cobra.Command, a *Access) error {
	a.Logger(cmd)
	if f.namespace == "" {
		return errors.New("--lease-namespace is required (want the namespace of the uninstalled release, such as --lease-namespace evenkeel)")
	}
	if err := installed.CheckNamespace(f.namespace); err != nil {
		return err
	}
	conf, err := hintsConfig(a, cmd, f.config, f.namespace)
	if err != nil {
		return err
	}
	client, _, err := a.Client()
	if err != nil {
		return err
	}
	return f.cleanUp(cmd, client, newHintCommand(client, conf, a.Progress()), a.SyncTimeout)
}

func (f *cleanupFlags) cleanUp(cmd *cobra.Command, client kubernetes.Interface, h *hintCommand, timeout time.Duration) error {
	h.progress.Start("waiting until no process holds the Lease in namespace %s, and removing what the release left", f.namespace)
	defer h.progress.Stop()
	left := cleanup.Release{Client: client, Namespace: f.namespace, Poll: cleanupPollInterval, ClearHints: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, f.hintsTimeout)
		defer cancel()
		if err := h.readHints(ctx, timeout, nil); err != nil {
			return fmt.Errorf("reading the nodes: %w", connection.ExplainForbidden("list nodes", err))
		}
		err := h.removeAll(ctx, cmd.OutOrStdout())
		h.progress.Start("removing what the release left in namespace %s", f.namespace)
		return err
	}}
	if f.skipHints {
		left.ClearHints = nil
	}
	deleted, err := left.Remove(cmd.Context(), f.wait, timeout)
	h.progress.Stop()
	fmt.Fprintf(cmd.OutOrStdout(), "Namespace %s: deleted %s.\n", f.namespace, cmp.Or(strings.Join(deleted, ", "), "nothing"))
	return err
}
