package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/reason"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/screen"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

func newExplainReason() *cobra.Command {
	return &cobra.Command{
		Use: "reason [CODE]", Short: "Explain a reason code, or list all codes",
		Long: "Explain what a reason code of a report, metric or event means, and what would have to change.\n" +
			"Without CODE, the command lists all codes. It needs no cluster.",
		Example: "  # What does a code of a report mean?\n  evenkeel explain reason ZoneSkewed\n\n  # Which codes exist?\n  evenkeel explain reason",
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 1 {
				return fmt.Errorf("want at most one code: explain reason [CODE]")
			}
			cmd.Parent().PersistentFlags().VisitAll(func(f *pflag.Flag) {
				if f.Changed {
					err = fmt.Errorf("--%s has no meaning for %s", f.Name, cmd.CommandPath())
				}
			})
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listReasons(cmd)
			}
			e, err := reason.Find(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s (%s)\n\n%s\n", e.Code, e.Group, e.Text)
			return err
		},
	}
}

func listReasons(cmd *cobra.Command) error {
	out, g, group := cmd.OutOrStdout(), layout.NewGrid("", "~"), ""
	for _, e := range reason.All() {
		if e.Group != group {
			group = e.Group
			g.Add(group, "")
		}
		g.Add("  "+e.Code, e.Meaning())
	}
	return report.List(out, g, screen.ReportOptions(out))
}

// reasonCodes returns the codes with their meanings, for completion.
func reasonCodes() (out []cobra.Completion) {
	for _, e := range reason.All() {
		out = append(out, e.Code+"\t"+e.Meaning())
	}
	return out
}
