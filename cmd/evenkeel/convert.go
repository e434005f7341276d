package main

import (
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/config/convert"
)

func newConfigConvert() *cobra.Command {
	var o convert.Options
	c := &cobra.Command{
		Use: "convert FILE", Short: "Convert dynamicScheduler's rule.yaml to a configuration", Args: requireFileArgument,
		Long: "Prints a config.yaml with comments. It sets the same label on the same nodes as dynamicScheduler does with this\n" +
			"rule.yaml; the comments say what differs. Read it, save it, and check it with `evenkeel config check`.",
		Example: "  evenkeel config convert rule.yaml --prometheus-url http://prometheus.monitoring:9090 > config.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.PrometheusURL != "" {
				u, err := url.Parse(o.PrometheusURL)
				if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
					return fmt.Errorf("--prometheus-url: %q is not a URL (want one such as http://prometheus.monitoring:9090)", o.PrometheusURL)
				}
			}
			name, data, err := readInputFile(args[0], cmd.InOrStdin())
			if err != nil {
				return fmt.Errorf("reading the file to convert: %w", err)
			}
			o.NodeLabel = config.Default().Load.Prometheus.NodeLabel
			text, err := convert.ToConfig(name, data, o)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	c.Flags().StringVar(&o.PrometheusURL, "prometheus-url", "", "address of Prometheus: the value of dynamicScheduler's flag -prom")
	return c
}
