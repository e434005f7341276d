package main

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
)

func newCRDs() *cobra.Command {
	return &cobra.Command{
		Use: "crds", Short: "Print the CustomResourceDefinitions", Args: commandline.NoArguments,
		Long: "Print the CustomResourceDefinitions of RebalancePlan, Rebalancer, RebalanceRun and\n" +
			"RebalanceHistory that this version of Evenkeel needs. The Helm chart installs these definitions,\n" +
			"unless the chart value crds.install is false. The command does not need a cluster.",
		Example: "  # Install or upgrade the CustomResourceDefinitions\n  evenkeel crds | kubectl apply --server-side -f -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(evenkeel.CustomResourceDefinitions())
			return err
		},
	}
}
