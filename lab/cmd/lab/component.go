package main

import (
	"context"
	"errors"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// component runs one part of a control plane in this process, for a lab whose
// parts are killed one by one.
func component(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: lab component NAME ARGUMENTS (started by the lab itself)")
	}
	return controlplane.RunComponent(ctx, args[0], args[1:])
}
