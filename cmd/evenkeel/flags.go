package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/report"
)

// globalFlags are the flags of every command.
type globalFlags struct {
	kubeconfig, context string
	verbose             bool
	// syncTimeout bounds how long a command waits until it has read the cluster.
	syncTimeout time.Duration
}

// rejectArguments returns an error for the first argument that is neither a flag nor a subcommand.
func rejectArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("unexpected argument %q: %s takes only flags; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return unknownCommand(cmd, args[0], cmp.Or(nestedCommand(cmd, args[0]), nearestCommand(cmd, args[0])))
}

// unknownCommand returns an error about a subcommand that does not exist. meant is the command to suggest, or "".
func unknownCommand(cmd *cobra.Command, name, meant string) error {
	if meant != "" {
		meant = " (did you mean " + meant + "?)"
	}
	return fmt.Errorf("unknown command \"%s %s\"%s; see %s --help", cmd.CommandPath(), name, meant, cmd.CommandPath())
}

// nestedCommand returns the path of a command two levels below cmd with the name, such as evenkeel config check, or "".
func nestedCommand(cmd *cobra.Command, name string) string {
	for _, c := range cmd.Commands() {
		for _, nested := range c.Commands() {
			if nested.Name() == name {
				return nested.CommandPath()
			}
		}
	}
	return ""
}

// nearestCommand returns the subcommand of cmd whose name resembles name, or "".
func nearestCommand(cmd *cobra.Command, name string) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return suggest.Nearest(name, names)
}

// flagError adds a pointer to --help, and replaces names of Go functions in errors about flag values.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	msg := err.Error()
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && strings.Contains(cmd.CommandPath(), " explain") &&
		slices.Contains([]string{"n", "namespace"}, unknown.GetSpecifiedName()) {
		msg += " (write the namespace before the name: NAMESPACE/NAME)"
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		msg = fmt.Sprintf("--%s: %q cannot be read (want %s)", f.Name, invalid.GetValue(), describeFlagType(f))
	}
	return fmt.Errorf("%s; see %s --help", msg, cmd.CommandPath())
}

func describeFlagType(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a number and a unit, such as 90s or 5m"
	}
	return "a " + f.Value.Type()
}

// logger returns a logger that writes to stderr. Only --verbose shows the logs of client-go.
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

// parseFormat parses the flag --output.
func parseFormat(text string) (report.Format, error) {
	format, err := report.ParseFormat(text)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	return format, nil
}
