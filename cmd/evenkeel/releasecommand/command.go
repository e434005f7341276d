// Package releasecommand contains the commands about an installed release: they show what it does and did, pause it,
// trigger a pass, decide about waiting plans, print its log, and remove hints and what an uninstalled release leaves.
//
// The package decides what these commands request, and what they print. It never evicts a pod, and never makes a plan.
package releasecommand

import (
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/internal/progress"
	"github.com/evenkeel-project/evenkeel/objects"
)

// Access is what the commands need from the program.
type Access struct {
	// Client connects to the cluster.
	Client func() (kubernetes.Interface, *rest.Config, error)
	// Objects returns a client for the objects of evenkeel.io in a namespace.
	Objects func(config *rest.Config, namespace string) (*objects.Client, error)
	// Namespace returns the namespace of a name without one.
	Namespace func() string
	// Logger returns the log of a command. Every command calls it before it connects, because the Kubernetes client
	// writes to the same log.
	Logger func(*cobra.Command) *slog.Logger
	// Progress returns the line on a terminal that says what a slow command does. The line is nil without a terminal.
	Progress func() *progress.Line
	// SyncTimeout bounds how long a command waits until it has read the nodes.
	SyncTimeout time.Duration
}

// lookup returns the search for the release of a command.
func (a *Access) lookup(cmd *cobra.Command) *installed.Lookup {
	return &installed.Lookup{Command: cmd, Connect: a.Client, Progress: a.Progress()}
}

// New returns the commands.
func New(a *Access) []*cobra.Command {
	return []*cobra.Command{newStatus(a), newHistory(a), newLogs(a), newApprove(a), newDiscard(a), newPause(a), newResume(a), newTrigger(a), newHints(a),
		newCleanup(a)}
}
