package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// plannerState is our own kind in a snapshot. What is in it is no matter of this
// package.
const plannerState = "evenkeel.io/v1alpha1 PlannerState"

func (o *Objects) addState(raw []byte, at string) error {
	if len(o.PlannerState) > 0 {
		return fmt.Errorf("%s: a second PlannerState; there can be one", at)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return fmt.Errorf("%s: reading the PlannerState: %w", at, err)
	}
	o.PlannerState = b.Bytes()
	return nil
}
