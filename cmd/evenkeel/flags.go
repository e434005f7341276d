package main

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// globalFlags are the flags of every command.
type globalFlags struct {
	kubeconfig, context string
	verbose             bool
	// syncTimeout is how long to wait until the cluster is read.
	syncTimeout time.Duration
}

// rejectArguments returns an error for arguments that are neither flags nor subcommands.
func rejectArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("unexpected argument %q: %s takes only flags; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	meant := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = " (did you mean " + near[0] + "?)"
	}
	return fmt.Errorf("unknown command \"%s %s\"%s; see %s --help", cmd.CommandPath(), args[0], meant, cmd.CommandPath())
}

// flagError adds a pointer to --help, and removes the names of Go functions from errors about values.
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

// logger returns a logger to stderr. It shows logs of client-go only with --verbose.
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

// silenceKlog runs once, because klog's logger must not change while other goroutines log.
var silenceKlog = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

func requireFileArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s reads one file, not %d; want: %s FILE", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

func requirePlanArgument(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("apply needs one plan file, got %d; make one with `evenkeel plan -o json > plan.json`", len(args))
	}
	return nil
}
