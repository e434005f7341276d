package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/controller/schedule"
)

// dueStrategies returns the strategies named with --strategy, or all strategies if the flag is missing. An empty flag
// value is an error, because it probably comes from an unset shell variable.
func dueStrategies(cmd *cobra.Command, all []schedule.Strategy, names []string) ([]string, error) {
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
			return nil, fmt.Errorf("--strategy %q: the configuration has no strategy of that name (it has: %s)", n,
				cmp.Or(strings.Join(known, ", "), "none"))
		}
	}
	return names, nil
}

// rejectEvents returns an error if a due strategy runs after nodes became Ready, because a single pass sees no such
// event.
func rejectEvents(all []schedule.Strategy, due []string) error {
	for _, s := range all {
		if s.OnNodeReady > 0 && slices.Contains(due, s.Name) {
			return fmt.Errorf("strategy %s has onNodeReady, but `run --once` does not wait for nodes; use `evenkeel run`, "+
				"remove onNodeReady, or select other strategies with --strategy", s.Name)
		}
	}
	return nil
}
