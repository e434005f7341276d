package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Our own kind in a snapshot, in any version. What is in it is no matter of this
// package.
const (
	ownGroup     = "evenkeel.io/"
	plannerState = "PlannerState"
	usage        = "Usage"
)

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

func (o *Objects) addUsage(raw []byte, at string) error {
	if o.Usage != nil {
		return fmt.Errorf("%s: a second Usage; there can be one", at)
	}
	var u Usage
	if err := json.Unmarshal(raw, &u); err != nil {
		return fmt.Errorf("%s: reading the Usage: %w", at, unreadable(raw, err))
	}
	o.Usage = &u
	return nil
}
