package commandline

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// NamespaceOf is the annotation of commands that says what --namespace selects. Without it, --namespace means
// --lease-namespace for commands with that flag, and is an error for other commands.
const (
	NamespaceOf = "namespace-of"
	OfSubject   = "subject" // the object that the command is about
	OfNothing   = "nothing" // the command reads the whole cluster
)

// NoArguments returns an error for the first argument that is neither a flag nor a subcommand.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("unexpected argument %q: %s takes only flags; see %s --help", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return UnknownCommand(cmd, args[0], cmp.Or(nestedCommand(cmd, args[0]), NearestCommand(cmd, args[0])))
}

// UnknownCommand returns an error about a subcommand that does not exist. meant is the command to suggest, or "".
func UnknownCommand(cmd *cobra.Command, name, meant string) error {
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

// NearestCommand returns the subcommand of cmd whose name resembles name, or "".
func NearestCommand(cmd *cobra.Command, name string) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return suggest.Nearest(name, names)
}

// OneFile returns an error unless there is one argument, the name of a file.
func OneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s reads one file, not %d; want: %s FILE", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

// FlagError adds a pointer to --help, and replaces names of Go functions in errors about flag values.
func FlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	msg := err.Error()
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		msg = fmt.Sprintf("--%s: %q cannot be read (want %s)", f.Name, invalid.GetValue(), describeFlagType(f))
	}
	return fmt.Errorf("%s; see %s --help", msg, cmd.CommandPath())
}

func describeFlagType(f *pflag.Flag) string {
	if choice, ok := f.Value.(interface{ Wanted() string }); ok {
		return choice.Wanted()
	}
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a number and a unit, such as 90s or 5m"
	}
	return "a " + f.Value.Type()
}
