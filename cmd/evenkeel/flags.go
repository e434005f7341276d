package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/internal/logging"
	"github.com/evenkeel-project/evenkeel/internal/progress"
)

// globalFlags are the flags of every command.
type globalFlags struct {
	connection.Flags
	log logging.Options
	// logged is the logger of the command, once it exists. client-go logs there too, so it must not be made again while
	// requests are in progress.
	logged  *slog.Logger
	program commandline.Program
	// syncTimeout bounds how long a command waits until it has read the cluster.
	syncTimeout time.Duration
	// progress says on a terminal what a slow command does. It is nil without a terminal.
	progress *progress.Line
}

// checkConnection checks the flags about the connection, and applies --namespace.
func (g *globalFlags) checkConnection(cmd *cobra.Command, _ []string) error {
	if err := g.Check(); err != nil {
		return err
	}
	namespace := g.NamespaceFlag()
	if namespace == "" || cmd.Annotations[commandline.NamespaceOf] == commandline.OfSubject {
		return nil
	}
	release := cmd.Flags().Lookup("lease-namespace")
	switch {
	case release == nil:
		return fmt.Errorf("--namespace has no meaning for %s", cmd.CommandPath())
	case cmd.Annotations[commandline.NamespaceOf] == commandline.OfNothing:
		show := ""
		if cmd.Flags().Lookup("show-namespace") != nil {
			show = ", and to show only one namespace, --show-namespace"
		}
		return fmt.Errorf("--namespace has no meaning for %s, which reads the whole cluster; to select the release, set --lease-namespace%s",
			cmd.CommandPath(), show)
	case release.Changed && release.Value.String() != namespace:
		return fmt.Errorf("--namespace is %s, but --lease-namespace is %s; leave one of them out", namespace, release.Value)
	}
	return release.Value.Set(namespace)
}

// logger returns the logger of the command, which writes to stderr. The log of level debug, or for programs, replaces
// the progress.
func (g *globalFlags) logger(cmd *cobra.Command) *slog.Logger {
	if g.log.JSON() || g.log.Level() <= slog.LevelDebug {
		g.progress.Disable()
	}
	if g.logged == nil {
		g.logged = g.log.New(cmd.ErrOrStderr())
	}
	return g.logged
}

// lookup returns the search for the release of a command.
func (g *globalFlags) lookup(cmd *cobra.Command) *installed.Lookup {
	return &installed.Lookup{Command: cmd, Connect: g.client, Progress: g.progress}
}

// printProgress shows on the terminal which step of the pass runs.
func (g *globalFlags) printProgress(doing string) { g.progress.Start("%s", doing) }
