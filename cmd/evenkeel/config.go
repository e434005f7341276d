package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// loadConfig reads the configuration file at path. An empty path selects the built-in configuration.
func loadConfig(path string) (*config.Config, error) {
	if path == "" {
		return config.Load("built-in config.yaml", evenkeel.DefaultConfig)
	}
	return config.LoadFile(path)
}

// dueStrategies returns the strategies named with --strategy, or all strategies if the flag is missing. An empty flag
// value is an error, because it probably comes from an unset shell variable.
func dueStrategies(cmd *cobra.Command, all []config.ScheduledStrategy, names []string) ([]string, error) {
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	if !cmd.Flags().Changed("strategy") {
		return known, nil
	}
	if len(names) == 0 {
		names = []string{""}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			has := "none"
			if len(known) > 0 {
				has = strings.Join(known, ", ")
			}
			return nil, fmt.Errorf("--strategy %q: the configuration has no strategy of that name (it has: %s)", n, has)
		}
	}
	return names, nil
}

func newConfig(g *globalFlags) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check, print or convert a configuration", Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Report every mistake in a configuration (-: standard input)", Args: requireFileArgument,
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
		Use: "default", Short: "Print the default configuration with comments", Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(evenkeel.DefaultConfig)
			return err
		},
	}, newConfigScheduler(g), newConfigConvert())
	return c
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
	case n == 0 && hints != "":
		fmt.Fprintf(out, "%s is valid: it has no strategies, so it evicts nothing%s.\n", name, hints)
	case n == 0:
		fmt.Fprintf(out, "%s is valid, but has no strategies: Evenkeel would do nothing.\n", name)
	case n == 1:
		fmt.Fprintf(out, "%s is valid: 1 strategy, %s%s.\n", name, mode, hints)
	default:
		fmt.Fprintf(out, "%s is valid: %d strategies, %s%s.\n", name, n, mode, hints)
	}
	for _, w := range conf.Warnings(time.Now()) {
		fmt.Fprintln(out, "Warning: "+w)
	}
}
