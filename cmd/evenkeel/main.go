// Command evenkeel keeps a Kubernetes cluster level. This package holds
// commands and wiring, nothing else: it parses flags, connects packages, and
// turns errors into exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// version is set when the program is built.
var version = "dev"

// errMovesPlanned makes the exit code 2: moves are planned.
var errMovesPlanned = errors.New("moves are planned")

func main() {
	tuneHeap(os.Getenv, os.ReadFile)
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
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(err, errMovesPlanned):
		return 2
	case err != nil:
		fmt.Fprintln(stderr, "evenkeel:", err)
		return 1
	}
	return 0
}

// globalFlags are the flags that every command has.
type globalFlags struct {
	kubeconfig, context string
	verbose             bool
	// syncTimeout is how long to wait for the first look at a cluster.
	syncTimeout time.Duration
}

func newRoot(g *globalFlags) *cobra.Command {
	root := &cobra.Command{
		Use:           "evenkeel",
		Short:         "Keeps a Kubernetes cluster level",
		Long:          "Evenkeel evicts the fewest pods whose replacements are predicted to land somewhere better.\nIt starts in dry run: see config.yaml.",
		SilenceErrors: true, SilenceUsage: true, Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&g.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the pod's own account)")
	f.StringVar(&g.context, "context", "", "context of the kubeconfig")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "log more")
	root.AddCommand(newRun(g), newPlan(g), newApply(g), newExplain(g), newPause(g), newResume(g), newHints(g), newCapture(g), newConfig(g), newVersion())
	return root
}

// rejectArguments refuses what stands behind a command that is neither a flag nor one
// of its commands.
func rejectArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%q is one word too many: %s takes flags only; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	meant := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = " (did you mean " + near[0] + "?)"
	}
	return fmt.Errorf("unknown command \"%s %s\"%s; see %s --help", cmd.CommandPath(), args[0], meant, cmd.CommandPath())
}

// flagError says where help is, without the names of the functions that parse.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	msg := err.Error()
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		msg = fmt.Sprintf("--%s: %q cannot be read (want %s)", f.Name, invalid.GetValue(), valueWanted(f))
	}
	return fmt.Errorf("%s; see %s --help", msg, cmd.CommandPath())
}

func valueWanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a number and a unit, such as 90s or 5m"
	}
	return "a " + f.Value.Type()
}

// logger writes to stderr. What client libraries log is shown with --verbose only.
func (g *globalFlags) logger(cmd *cobra.Command) *slog.Logger {
	level := slog.LevelInfo
	if g.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	if g.verbose {
		klog.SetSlogLogger(log)
	} else {
		silenceKlog()
	}
	return log
}

// silenceKlog is done once: klog's logger must not change while others log.
var silenceKlog = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: rejectArguments,
		Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version) },
	}
}
