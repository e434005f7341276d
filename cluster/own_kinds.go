package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The kinds that Evenkeel defines for snapshots, in any version. This package stores a
// PlannerState without reading it.
const (
	ownGroup         = "evenkeel.io/"
	plannerStateKind = "PlannerState"
	usageKind        = "Usage"
	usageVersion     = "evenkeel.io/v1alpha1"
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
		return fmt.Errorf("%s: reading the Usage: %w", at, plainDecodeError(raw, err))
	}
	if u.APIVersion != usageVersion {
		return fmt.Errorf("%s: a Usage of version %s, which means nothing here (want %s)", at, u.APIVersion, usageVersion)
	}
	o.Usage = &u
	return nil
}
