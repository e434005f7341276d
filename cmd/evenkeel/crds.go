package main

import (
	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
)

func newCRDs() *cobra.Command {
	return &cobra.Command{
		Use: "crds", Short: "Print the CustomResourceDefinitions", Args: commandline.NoArguments,
		Long: "Print the CustomResourceDefinitions of RebalancePlan, Rebalancer, RebalanceRun and RebalanceHistory,\n" +
			"as this version of Evenkeel needs them. The chart installs them, unless its value crds.install is\nfalse. The command needs no cluster.",
		Example: "  # Install or upgrade them\n  evenkeel crds | kubectl apply --server-side -f -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(evenkeel.CustomResourceDefinitions())
			return err
		},
	}
}
