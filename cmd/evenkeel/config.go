package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/argument"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// loadConfig reads the configuration file at path. An empty path selects the built-in configuration, which is always a
// dry run, also if config.yaml was edited before the build: only a file that is named at the start permits evictions.
func loadConfig(path string) (*config.Config, error) {
	if path != "" {
		return config.LoadFile(path)
	}
	conf, err := config.Load("built-in config.yaml", evenkeel.DefaultConfig)
	if err != nil {
		return nil, err
	}
	conf.DryRun = true
	return conf, nil
}

// loadConfigOnly is like loadConfig, but does not read the files to which the configuration refers.
func loadConfigOnly(path string) (*config.Config, error) {
	if path == "" {
		return loadConfig(path)
	}
	return config.LoadFileOnly(path)
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
			return nil, fmt.Errorf("--strategy %q: the configuration has no strategy of that name (it has: %s)", n,
				cmp.Or(strings.Join(known, ", "), "none"))
		}
	}
	return names, nil
}

// rejectEvents returns an error if a due strategy runs after events, because a single pass sees no events.
func rejectEvents(all []config.ScheduledStrategy, due []string) error {
	for _, s := range all {
		if s.On.Any() && slices.Contains(due, s.Name) {
			return fmt.Errorf("strategy %s runs after events about nodes (on), but `run --once` sees no events; use `evenkeel run`, "+
				"remove on, or select other strategies with --strategy", s.Name)
		}
	}
	return nil
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

type schedulerFlags struct {
	spreadWeight            int
	pressure, watcher, from string
}

func newConfigScheduler(g *globalFlags) *cobra.Command {
	f := &schedulerFlags{}
	c := &cobra.Command{
		Use: "scheduler", Short: "Print a configuration for kube-scheduler that spreads pods evenly", Args: rejectArguments,
		Long: "Prints a KubeSchedulerConfiguration (v1) for kube-scheduler's flag --config: PodTopologySpread has a higher\n" +
			"weight, and pods without spread constraints are spread over zones and nodes. --kubeconfig sets clientConnection.",
		Example: "  evenkeel config scheduler --kubeconfig /etc/kubernetes/scheduler.conf > scheduler.yaml\n" +
			"  evenkeel config scheduler --pressure-label status=presure\n" +
			"  evenkeel config scheduler --from-policy policy.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(g, cmd.InOrStdin())
			if err != nil {
				return err
			}
			text, lost := schedulerconfig.Print(o)
			for _, l := range lost {
				fmt.Fprintln(cmd.ErrOrStderr(), "evenkeel: changed by the conversion:", l)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.spreadWeight, "spread-weight", 0,
		"weight of PodTopologySpread (default: 5, or the weight in the Policy; kube-scheduler's own is 2)")
	fl.StringVar(&f.pressure, "pressure-label", "", "prefer nodes without this label, KEY=VALUE or KEY, such as evenkeel.io/pressure=true")
	fl.StringVar(&f.watcher, "watcher", "", "URL of a load-watcher; prints a profile for trimaran as a comment")
	fl.StringVar(&f.from, "from-policy", "", "convert this legacy scheduler Policy (JSON or YAML; -: standard input)")
	return c
}

func (f *schedulerFlags) options(g *globalFlags, stdin io.Reader) (schedulerconfig.Options, error) {
	o := schedulerconfig.Options{SpreadWeight: f.spreadWeight, Kubeconfig: g.kubeconfig}
	if f.spreadWeight < 0 || f.spreadWeight > 10000 {
		return o, fmt.Errorf("--spread-weight: %d is not a valid weight (want 1..10000)", f.spreadWeight)
	}
	if f.pressure != "" {
		o.PressureKey, o.PressureValue, _ = strings.Cut(f.pressure, "=")
		if len(validation.IsQualifiedName(o.PressureKey)) > 0 || len(validation.IsValidLabelValue(o.PressureValue)) > 0 {
			return o, fmt.Errorf("--pressure-label: %q is not a label (want KEY=VALUE, such as evenkeel.io/pressure=true)", f.pressure)
		}
	}
	if f.watcher != "" {
		if err := argument.CheckHTTPURL("watcher", f.watcher, "http://evenkeel.evenkeel-system:8080"); err != nil {
			return o, err
		}
		// Trimaran adds /watcher itself.
		o.Watcher = strings.TrimSuffix(strings.TrimSuffix(f.watcher, "/"), "/watcher")
	}
	if f.from == "" {
		return o, nil
	}
	name, data, err := argument.ReadFile(f.from, stdin, argument.MaxFileBytes)
	if err != nil {
		return o, fmt.Errorf("--from-policy: %w", err)
	}
	policy, err := convert.LoadPolicy(name, data)
	if err != nil {
		return o, err
	}
	o.Profile = convert.SchedulerProfile(policy)
	return o, nil
}
