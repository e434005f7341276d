package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/config"
)

// loadConfig reads the file, or the shipped configuration when there is none.
func loadConfig(path string) (*config.Config, error) {
	if path == "" {
		return config.Load("built-in config.yaml", evenkeel.DefaultConfig)
	}
	return config.LoadFile(path)
}

// pick checks the names given with --strategy; none means all.
func pick(all []config.Scheduled, names []string) ([]string, error) {
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("--strategy %q: the configuration has no strategy of that name (it has: %s)", n, strings.Join(known, ", "))
		}
	}
	if len(names) == 0 {
		return known, nil
	}
	return names, nil
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s reads one file, not %d; want: %s FILE", cmd.CommandPath(), len(args), cmd.CommandPath())
	}
	return nil
}

func newConfig(g *global) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check a configuration, or print one", Args: noValues,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(&cobra.Command{
		Use: "check FILE", Short: "Report every mistake in a configuration", Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := config.LoadFile(args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			mode := "it evicts (dryRun: false)"
			if conf.DryRun {
				mode = "it evicts nothing (dryRun: true)"
			}
			fmt.Fprintf(out, "%s is valid: %d strategies, %s.\n", args[0], len(conf.Strategies), mode)
			fmt.Fprintln(out, "Not enforced by this version yet:")
			for _, l := range conf.NotEnforced() {
				fmt.Fprintln(out, "  "+l)
			}
			return nil
		},
	}, &cobra.Command{
		Use: "default", Short: "Print the default configuration with comments", Args: noValues,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(evenkeel.DefaultConfig)
			return err
		},
	}, newConfigScheduler(g))
	return c
}
