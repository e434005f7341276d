package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/layout"
)

func newExplainReason() *cobra.Command {
	return &cobra.Command{
		Use: "reason [CODE]", Short: "Explain a reason code, or list all codes",
		Long: "Explain what a reason code in a report, metric or event means, and what you could change. Without\n" +
			"CODE, the command lists all reason codes. The command does not need a cluster.",
		Example:     "  # What does the reason code ZoneSkewed mean?\n  evenkeel explain reason ZoneSkewed\n\n  # Which reason codes exist?\n  evenkeel explain reason",
		Annotations: map[string]string{commandline.RejectsParentFlags: "true"},
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
			e, err := findReason(args[0])
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
	for _, e := range allReasons() {
		if e.Group != group {
			group = e.Group
			g.Add(group, "")
		}
		g.Add("  "+e.Code, e.meaning())
	}
	return report.List(out, g, commandline.ReportOptions(out))
}

// reasonCodes returns the codes with their meanings, for completion.
func reasonCodes() (out []cobra.Completion) {
	for _, e := range allReasons() {
		out = append(out, e.Code+"\t"+e.meaning())
	}
	return out
}

// reasonEntry explains a code.
type reasonEntry struct {
	Code string
	// Group is the heading of the codes to which it belongs, such as: Why a pod is moved.
	Group string
	// Text explains the code, shows a message, and says what would have to change.
	Text string
}

var (
	link  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	fence = regexp.MustCompile("(?m)^```text\n(.+)\n```$")
)

// allReasons returns the codes in the order of the page.
func allReasons() (out []reasonEntry) {
	for _, group := range strings.Split(evenkeel.ReasonsPage, "\n## ")[1:] {
		parts := strings.Split(group, "\n### ")
		title, _, _ := strings.Cut(parts[0], "\n")
		for _, part := range parts[1:] {
			code, text, _ := strings.Cut(part, "\n")
			out = append(out, reasonEntry{code, title, strings.TrimSpace(fence.ReplaceAllString(link.ReplaceAllString(text, "$1"), "Example: $1"))})
		}
	}
	return out
}

// findReason returns the entry of a code, whatever its case. The error suggests a similar code.
func findReason(code string) (reasonEntry, error) {
	var codes []string
	for _, e := range allReasons() {
		if strings.EqualFold(e.Code, code) {
			return e, nil
		}
		codes = append(codes, e.Code)
	}
	return reasonEntry{}, fmt.Errorf("%q is not a reason code%s; `evenkeel explain reason` lists all codes", code, suggest.DidYouMean(code, codes))
}

// meaning returns the first sentence about the code, without marks.
func (e reasonEntry) meaning() string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(strings.ReplaceAll(e.Text, "`", "")), " "), ". ")
	return strings.TrimSuffix(first, ".")
}
