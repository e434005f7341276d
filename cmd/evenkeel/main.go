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
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/configcommand"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/releasecommand"
	"github.com/evenkeel-project/evenkeel/internal/heap"
	"github.com/evenkeel-project/evenkeel/internal/progress"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/objects"
)

// errFound makes the program exit with code 2: a command found what its flag asks for.
var errFound = errors.New("found")

func main() {
	heap.Tune(os.Getenv, os.ReadFile)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	g := &globalFlags{program: commandline.Started(os.Args[0]), syncTimeout: connectTimeout}
	return g.run(args, stdin, stdout, stderr)
}

func (g *globalFlags) run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRoot(g)
	root.SetArgs(g.program.Arguments(args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	g.progress = progress.New(stderr, commandline.ReportOptions(stderr).Width, clock.RealClock{})
	defer g.progress.Stop()
	stderr = terminal.Writer{Writer: g.progress.Writer(stderr)}
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	g.progress.Stop()
	switch {
	case errors.Is(err, errFound):
		return 2
	case err != nil:
		g.printError(stderr, errorText(err))
		return 1
	}
	return 0
}

// printError prints the error that ends the program. It is the last line of the log if the log is JSON.
func (g *globalFlags) printError(stderr io.Writer, text string) {
	if g.log.JSON() {
		if g.logged == nil {
			g.logged = g.log.New(stderr)
		}
		g.logged.Error(text)
		return
	}
	fmt.Fprintln(stderr, "evenkeel:", text)
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
		Use:   "evenkeel",
		Short: "Keep a Kubernetes cluster balanced",
		Long: "Keep a Kubernetes cluster balanced. Evenkeel predicts where the scheduler will place the\n" +
			"replacements for evicted pods, and evicts as few pods as possible. Without a configuration that\n" +
			"permits evictions, Evenkeel evicts nothing.",
		SilenceErrors: true, SilenceUsage: true, Args: commandline.NoArguments, Version: programVersion(),
		PersistentPreRunE: g.checkConnection,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(commandline.FlagError)
	f := root.PersistentFlags()
	g.Add(f)
	g.log.AddFlags(f)
	root.AddCommand(newRun(g), newPlan(g), newImpact(g), newApply(g), newExplain(g), newCapture(g), configcommand.New(&g.Kubeconfig), newCRDs(), newVersion(g), newUI(g))
	root.AddCommand(releasecommand.New(&releasecommand.Access{Client: g.client, Objects: objects.New, Namespace: g.Namespace, Logger: g.logger, SyncTimeout: g.syncTimeout,
		Progress: func() *progress.Line { return g.progress }})...)
	g.program.Configure(root)
	g.completions().Register(root)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Args, c.RunE = commandline.NoArguments, root.RunE // cobra prints the help for an unknown shell, and exits with 0
	}
	return root
}
