package configcommand

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/config/convert/descheduler"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// convertFlags are the flags of `config convert`.
type convertFlags struct {
	output, schedule, prometheusURL string
}

// The values of the flag --output.
const (
	outputConfig = "config"
	outputValues = "values"
)

func newConvert() *cobra.Command {
	f := &convertFlags{}
	c := &cobra.Command{
		Use: "convert FILE", Short: "Convert another program's configuration, or an old config.yaml", Args: commandline.OneFile,
		Long: "Print a config.yaml that is equivalent to another program's configuration. Comments in the output\n" +
			"describe each difference. FILE, or standard input if FILE is -, contains one of these:\n\n- a DeschedulerPolicy (v1alpha2 or v1alpha1), or a ConfigMap that contains one\n" +
			"- all values of the descheduler's chart, as printed by `helm get values RELEASE --all -o yaml`\n" +
			"- dynamicScheduler's rule.yaml\n" +
			"- a config.yaml or values of Evenkeel's chart in an earlier format: a list of strategies becomes a\n" +
			"  map by name, and removed keys that have their former default are left out\n\nIf a setting cannot be converted, the command names the setting and prints no configuration. Review\n" +
			"the printed configuration, and check it with `evenkeel config check`.",
		Example: "  # Convert a descheduler policy\n  evenkeel config convert policy.yaml > config.yaml\n" +
			"\n  # Convert the descheduler chart's values to values for Evenkeel's chart\n  helm get values descheduler -n kube-system --all -o yaml > old.yaml\n  evenkeel config convert old.yaml -o values > values.yaml\n" +
			"\n  # Convert dynamicScheduler's rules\n  evenkeel config convert rule.yaml --prometheus-url http://prometheus.monitoring:9090 > config.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, data, err := commandline.ReadFile(args[0], cmd.InOrStdin(), commandline.MaxFileBytes)
			if err != nil {
				return fmt.Errorf("reading the file to convert: %w", err)
			}
			if err := f.check(); err != nil {
				return err
			}
			var text string
			switch {
			case descheduler.Is(data):
				text, err = f.convertPolicy(cmd, name, data)
			case convert.IsConfig(data):
				text, err = f.update(cmd, name, data)
			default:
				text, err = f.convertRules(name, data)
			}
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", outputConfig, "output format: config (a config.yaml) or values (values for Evenkeel's chart)")
	fl.StringVar(&f.schedule, "schedule", "", "cron schedule for all strategies that replace descheduler plugins "+
		"(default: the schedule in the descheduler chart's values, or every five minutes)")
	fl.StringVar(&f.prometheusURL, "prometheus-url", "", "URL of Prometheus; set it to the value of dynamicScheduler's flag -prom")
	return c
}

// check returns an error if the value of a flag is invalid.
func (f *convertFlags) check() error {
	if f.output != outputConfig && f.output != outputValues {
		return fmt.Errorf("--output %q is unknown (want %s or %s)", f.output, outputConfig, outputValues)
	}
	if f.schedule != "" {
		zone, err := cron.LoadZone("Etc/UTC")
		if err == nil {
			_, err = cron.Parse(f.schedule, zone)
		}
		if err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		if f.output == outputValues && strings.HasPrefix(f.schedule, "@every") {
			return fmt.Errorf("--schedule: the chart does not accept @every (want five fields or @hourly ...)")
		}
	}
	if f.prometheusURL != "" {
		return commandline.CheckHTTPURL("prometheus-url", f.prometheusURL, "http://prometheus.monitoring:9090")
	}
	return nil
}

// convertPolicy converts a file of the descheduler. It writes the number of differences to the standard error.
func (f *convertFlags) convertPolicy(cmd *cobra.Command, name string, data []byte) (string, error) {
	if f.prometheusURL != "" {
		return "", fmt.Errorf("--prometheus-url: only for a rule.yaml; a policy contains the address in metricsProviders")
	}
	r, err := descheduler.Convert(data, descheduler.Options{File: name, Schedule: f.schedule})
	if err != nil {
		return "", err
	}
	if f.output == outputValues {
		writeNoteCount(cmd.ErrOrStderr(), len(r.Notes)+len(r.ChartNotes), 0)
		return r.Values, nil
	}
	writeNoteCount(cmd.ErrOrStderr(), len(r.Notes), len(r.ChartNotes))
	return r.Config, nil
}

// writeNoteCount writes how many settings the printed comments describe, and how many only those in values do.
func writeNoteCount(out io.Writer, printed, onlyInValues int) {
	if printed > 0 {
		fmt.Fprintf(out, "evenkeel: %s without an exact counterpart; the comments describe %s\n",
			plural.Count(printed, "setting"), plural.Choose(printed, "it", "them"))
	}
	them := plural.Choose(onlyInValues, "it", "them")
	switch n := onlyInValues; {
	case n == 0:
	case printed == 0:
		fmt.Fprintf(out, "evenkeel: %s of the chart without an exact counterpart; -o values shows %s\n", plural.Count(n, "value"), them)
	default:
		fmt.Fprintf(out, "evenkeel: %d more %s about the chart; -o values shows %s\n", n, plural.Choose(n, "is", "are"), them)
	}
}

// update converts a configuration or values of Evenkeel's chart of an earlier format. It writes each changed key to the
// standard error.
func (f *convertFlags) update(cmd *cobra.Command, name string, data []byte) (string, error) {
	if f.schedule != "" || f.prometheusURL != "" {
		return "", fmt.Errorf("--schedule and --prometheus-url: only for files of other programs")
	}
	text, notes, err := convert.Update(name, data)
	for _, note := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: %s\n", note)
	}
	if err == nil && f.output == outputValues && strings.Contains("\n"+text, "\nkind: RebalanceConfig") {
		text = convert.ChartValues(text)
	}
	return text, err
}

// convertRules converts dynamicScheduler's rule.yaml.
func (f *convertFlags) convertRules(name string, data []byte) (string, error) {
	if f.schedule != "" {
		return "", fmt.Errorf("--schedule: only for files of the descheduler; the rules of dynamicScheduler have no schedule")
	}
	o := convert.Options{PrometheusURL: f.prometheusURL, NodeLabel: config.Default().Load.Prometheus.NodeLabel}
	text, err := convert.ToConfig(name, data, o)
	if err == nil && f.output == outputValues {
		text = convert.ChartValues(text)
	}
	return text, err
}
