package main

import (
	"context"
	"errors"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// runComponent runs one component of a control plane in this process. A lab calls it to run its components as separate
// processes.
func runComponent(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: lab component NAME ARGUMENTS (started by the lab itself)")
	}
	return controlplane.RunComponent(ctx, args[0], args[1:])
}
