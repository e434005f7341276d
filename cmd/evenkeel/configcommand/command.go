// Package configcommand contains the commands about files of configuration: they check, print and convert them.
//
// The package decides what these commands print. It connects to no cluster; package config decides what is valid.
package configcommand

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/schema"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// New returns the command config. kubeconfig is the value of the flag --kubeconfig.
func New(kubeconfig *string) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check, print or convert a configuration", Long: "Check, print or convert a configuration file. These subcommands do not need a cluster.", Args: commandline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Report every mistake in a configuration", Args: commandline.OneFile,
		Long:    "Report every mistake in a configuration file, and warn about settings that are probably mistakes. To\nread the configuration from standard input, set FILE to -.",
		Example: "  # Check a file before you use it\n  evenkeel config check config.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, load := args[0], func() (*config.Config, error) { return config.LoadFile(args[0]) }
			if name == "-" {
				name, load = "standard input", func() (*config.Config, error) { return config.Read("standard input", cmd.InOrStdin()) }
			}
			conf, err := load()
			if err != nil {
				return err
			}
			describeConfig(cmd.OutOrStdout(), name, conf)
			return nil
		},
	}, &cobra.Command{
		Use: "default", Short: "Print the default configuration with comments", Args: commandline.NoArguments,
		Long:    "Print the default configuration, with a comment for every key.",
		Example: "  # Start your own configuration from the default\n  evenkeel config default > config.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(evenkeel.DefaultConfig)
			return err
		},
	}, newPrint(), newSchema(), newScheduler(kubeconfig), newConvert())
	return c
}

func newPrint() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "print", Short: "Print the whole effective configuration", Args: commandline.NoArguments,
		Long: "Print the effective configuration: a config.yaml that has a value for every key, and contains the\n" +
			"strategies from both the presets and the file. The printed configuration produces the same plans\n" +
			"as the file.",
		Example: "  # Print the effective configuration of a file\n  evenkeel config print --config config.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := config.Load("config.yaml", evenkeel.DefaultConfig)
			if path != "" {
				conf, err = config.LoadFile(path)
			}
			if err != nil {
				return err
			}
			text, err := conf.Print()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	c.Flags().StringVar(&path, "config", "", "configuration file (default: the configuration that `config default` prints)")
	return c
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of config.yaml, for editors", Args: commandline.NoArguments,
		Long: "Print the JSON Schema (draft 7) of config.yaml, with each key's type, default, allowed values and\n" +
			"description. An editor with a YAML language server can then complete and check your file if the\n" +
			"first line of the file names the schema:\n\n    # yaml-language-server: $schema=evenkeel.schema.json\n\n`evenkeel config check` also finds mistakes that a schema cannot describe.",
		Example: "  # Save the schema next to config.yaml\n  evenkeel config schema > evenkeel.schema.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(schema.Config)
			return err
		},
	}
}

// describeConfig writes a summary of a valid configuration, with its warnings.
func describeConfig(out io.Writer, name string, conf *config.Config) {
	mode := "it evicts (dryRun: false)"
	if conf.DryRun {
		mode = "it evicts nothing (dryRun: true)"
	}
	hints := ""
	if rules := len(conf.HintRules()); rules > 0 {
		hints = "; it hints nodes by " + plural.Count(rules, "rule")
		if conf.DryRun {
			hints = "; it reports which nodes it would hint by " + plural.Count(rules, "rule") + " (dryRun: true)"
		}
	}
	switch n := len(conf.Strategies); {
	case n > 0:
		fmt.Fprintf(out, "%s is valid: %d %s, %s%s.\n", name, n, plural.Choose(n, "strategy", "strategies"), mode, hints)
	case hints != "":
		fmt.Fprintf(out, "%s is valid: it has no strategies, so it evicts nothing%s.\n", name, hints)
	default:
		fmt.Fprintf(out, "%s is valid, but has no strategies: Evenkeel would do nothing.\n", name)
	}
	for _, w := range conf.Warnings(time.Now()) {
		fmt.Fprintln(out, "Warning: "+w)
	}
}
