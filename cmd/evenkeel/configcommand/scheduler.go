package configcommand

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
)

type schedulerFlags struct {
	spreadWeight            int
	pressure, watcher, from string
}

func newScheduler(kubeconfig *string) *cobra.Command {
	f := &schedulerFlags{}
	c := &cobra.Command{
		Use: "scheduler", Short: "Print a kube-scheduler configuration that spreads pods evenly", Args: commandline.NoArguments,
		Long: "Print a KubeSchedulerConfiguration (v1) for the flag --config of kube-scheduler. The configuration\n" +
			"gives the plugin PodTopologySpread a higher weight, and spreads pods without spread constraints\n" +
			"over zones and nodes. This command's flag --kubeconfig sets clientConnection.kubeconfig in the\n" +
			"printed configuration.",
		Example: "  # Print the configuration for a kubeadm control plane\n  evenkeel config scheduler --kubeconfig /etc/kubernetes/scheduler.conf > scheduler.yaml\n" +
			"\n  # Prefer nodes without dynamicScheduler's label\n  evenkeel config scheduler --pressure-label status=presure\n" +
			"\n  # Convert a legacy scheduler Policy\n  evenkeel config scheduler --from-policy policy.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.options(*kubeconfig, cmd.InOrStdin())
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
		"weight of PodTopologySpread; kube-scheduler's own default is 2 (default: 5, or the weight in the Policy)")
	fl.StringVar(&f.pressure, "pressure-label", "", "label, as KEY or KEY=VALUE, of nodes that the scheduler avoids if it can, such as evenkeel.io/pressure=true")
	fl.StringVar(&f.watcher, "watcher", "", "load-watcher's URL, for which the command prints a profile with Trimaran as a comment")
	fl.StringVar(&f.from, "from-policy", "", "file with a legacy scheduler Policy (JSON or YAML) to convert; - means standard input")
	return c
}

func (f *schedulerFlags) options(kubeconfig string, stdin io.Reader) (schedulerconfig.Options, error) {
	o := schedulerconfig.Options{SpreadWeight: f.spreadWeight, Kubeconfig: kubeconfig}
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
		if err := commandline.CheckHTTPURL("watcher", f.watcher, "http://evenkeel.evenkeel-system:8080"); err != nil {
			return o, err
		}
		// Trimaran adds /watcher itself.
		o.Watcher = strings.TrimSuffix(strings.TrimSuffix(f.watcher, "/"), "/watcher")
	}
	if f.from == "" {
		return o, nil
	}
	name, data, err := commandline.ReadFile(f.from, stdin, commandline.MaxFileBytes)
	if err != nil {
		return o, fmt.Errorf("--from-policy: %w", err)
	}
	policy, err := convert.LoadLegacyPolicy(name, data)
	if err != nil {
		return o, err
	}
	o.Profile = convert.SchedulerProfile(policy)
	return o, nil
}
