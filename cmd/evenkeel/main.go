// Command evenkeel rebalances a Kubernetes cluster. This package parses flags, connects packages, and turns errors into
// exit codes. It never decides which pods to evict.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // configurations name time zones, and container images often lack the time zone database

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/internal/heap"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// errMovesPlanned makes the program exit with code 2.
var errMovesPlanned = errors.New("moves are planned")

func main() {
	heap.Tune(os.Getenv, os.ReadFile)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&globalFlags{syncTimeout: connectTimeout}).run(args, stdin, stdout, stderr)
}

func (g *globalFlags) run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(g)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	stderr = terminal.Writer{Writer: stderr}
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(err, errMovesPlanned):
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "evenkeel:", errorText(err))
		return 1
	}
	return 0
}

// errorText returns the text of an error. It escapes line ends in an answer of the API server,
// because a line of its own would look like a message of this program.
func errorText(err error) string {
	text := err.Error()
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Message != "" {
		text = strings.ReplaceAll(text, answer.Status().Message, terminal.Escape(answer.Status().Message))
	}
	return text
}

func newRoot(g *globalFlags) *cobra.Command {
	root := &cobra.Command{
		Use:           "evenkeel",
		Short:         "Keeps a Kubernetes cluster balanced",
		Long:          "Evenkeel evicts the fewest pods whose replacements are predicted to land somewhere better.\nBy default it is a dry run: see config.yaml.",
		SilenceErrors: true, SilenceUsage: true, Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&g.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the pod's own account)")
	f.StringVar(&g.context, "context", "", "context of the kubeconfig")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "log more")
	root.AddCommand(newRun(g), newPlan(g), newApply(g), newApprove(g), newDiscard(g), newExplain(g), newPause(g), newResume(g), newTrigger(g),
		newHints(g), newCapture(g), newConfig(g),
		newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: rejectArguments,
		Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), programVersion()) },
	}
}
