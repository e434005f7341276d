package commandline

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// columns is the largest width of descriptions of flags. Most terminals show it.
const columns = 100

// The prefixes of names under which kubectl finds a plugin and its completion.
const (
	pluginPrefix   = "kubectl-"
	completePrefix = "kubectl_complete-"
)

// Program says under which name the program was started.
type Program struct {
	// Plugin reports whether kubectl starts the program, as `kubectl evenkeel`.
	Plugin bool
	// Completes reports whether kubectl asks for completions of the arguments.
	Completes bool
}

// Started returns how the program was started. path is its first argument, such as /usr/bin/kubectl-evenkeel.
func Started(path string) Program {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	completes := strings.HasPrefix(name, completePrefix)
	return Program{Plugin: completes || strings.HasPrefix(name, pluginPrefix), Completes: completes}
}

// Arguments returns the arguments for the root command.
func (p Program) Arguments(args []string) []string {
	if p.Completes {
		return append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return args
}

// Configure makes the help of all commands look as kubectl's. It adds the command options, which lists the flags
// that all commands have; other commands do not list them.
func (p Program) Configure(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use: "options", Short: "List the options that all commands accept",
		Long:    "List the global options, which every command accepts. The global options configure the\nconnection to the cluster, and logs.",
		Example: "  # List the options that all commands accept\n  evenkeel options",
		Args:    root.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "The following options can be passed to any command:\n\n%s", describeFlags(root.PersistentFlags()))
			return err
		},
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error { return writeHelp(cmd.OutOrStderr(), cmd) })
	if p.Plugin {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl " + root.Name()}
		rename(root, root.Name(), "kubectl "+root.Name())
	}
}

// rename replaces the name of the program in the examples and in commands that descriptions quote.
func rename(cmd *cobra.Command, name, full string) {
	cmd.Long = strings.ReplaceAll(cmd.Long, "`"+name+" ", "`"+full+" ")
	lines := strings.Split(cmd.Example, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		line = strings.ReplaceAll(line, "| "+name+" ", "| "+full+" ")
		if rest, ok := strings.CutPrefix(line, "  "+name); ok {
			line = "  " + full + rest
		}
		lines[i] = line
	}
	cmd.Example = strings.Join(lines, "\n")
	for _, c := range cmd.Commands() {
		rename(c, name, full)
	}
}

// writeHelp prints the help of a command: examples, subcommands, flags, and how to call it.
func writeHelp(out io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	if cmd.HasExample() {
		fmt.Fprintf(&b, "Examples:\n%s\n\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	if own := OwnFlags(cmd); own.HasAvailableFlags() {
		fmt.Fprintf(&b, "Options:\n%s\n", describeFlags(own))
	}
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n\nUse \"%s COMMAND --help\" for more information about a command.\n", cmd.CommandPath(), cmd.CommandPath())
	} else {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Use \"%s options\" for the options of all commands.\n", cmd.Root().CommandPath())
	_, err := io.WriteString(out, b.String())
	return err
}

// writeCommands prints the subcommands of a command by group.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	groups := append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Other Commands:"})
	if len(groups) == 1 {
		groups[0].Title = "Available Commands:"
	}
	for _, group := range groups {
		title := group.Title + "\n"
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && c.IsAvailableCommand() {
				fmt.Fprintf(b, "%s  %-*s  %s\n", title, cmd.Commands()[0].NamePadding(), c.Name(), c.Short)
				title = ""
			}
		}
		if title == "" {
			b.WriteString("\n")
		}
	}
}

// RejectsParentFlags is the annotation of commands that reject the flags of their parent.
const RejectsParentFlags = "rejects-parent-flags"

// OwnFlags returns the flags of a command, and those that it has from a parent other than the root.
func OwnFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	all := cmd.Flags()
	if cmd.Annotations[RejectsParentFlags] != "" {
		all = cmd.LocalFlags()
	}
	all.VisitAll(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) == nil && f.Name != "help" && f.Name != "version" {
			own.AddFlag(f)
		}
	})
	return own
}

func describeFlags(flags *pflag.FlagSet) string { return flags.FlagUsagesWrapped(columns) }
