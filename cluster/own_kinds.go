package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
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
		return fmt.Errorf("%s: second PlannerState; a snapshot can contain only one", at)
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
		return fmt.Errorf("%s: second Usage; a snapshot can contain only one", at)
	}
	var u Usage
	if err := json.Unmarshal(raw, &u); err != nil {
		return fmt.Errorf("%s: reading the Usage: %w", at, plainDecodeError(raw, err))
	}
	if u.APIVersion != usageVersion {
		return fmt.Errorf("%s: a Usage of version %s, which is not supported (want %s)", at, u.APIVersion, usageVersion)
	}
	o.Usage = &u
	return nil
}

// Annotations on the List of a snapshot.
const (
	annotationTakenAt           = "evenkeel.io/taken-at"
	annotationServerVersion     = "evenkeel.io/server-version"
	annotationClusterUID        = "evenkeel.io/cluster-uid"
	annotationRedacted          = "evenkeel.io/redacted"
	annotationPlannerStateError = "evenkeel.io/state-unknown"
)

// applyListAnnotations reads the annotations of a snapshot's List.
func (o *Objects) applyListAnnotations(a map[string]string, at string) error {
	var errs []error
	if v, ok := a[annotationTakenAt]; ok {
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: annotation %s: %q is not a time such as 2026-01-02T15:04:05Z", at, annotationTakenAt, v))
		}
		if t.After(o.TakenAt) {
			o.TakenAt = t
		}
	}
	if v, ok := a[annotationServerVersion]; ok {
		o.ServerVersion = v
	}
	if v, ok := a[annotationClusterUID]; ok {
		o.ClusterUID = v
	}
	if v, ok := a[annotationPlannerStateError]; ok {
		o.PlannerStateError = v
	}
	return errors.Join(errs...)
}

func (o *Objects) listAnnotations() map[string]string {
	a := map[string]string{}
	if !o.TakenAt.IsZero() {
		a[annotationTakenAt] = o.TakenAt.UTC().Format(time.RFC3339Nano)
	}
	if o.ServerVersion != "" {
		a[annotationServerVersion] = o.ServerVersion
	}
	if o.ClusterUID != "" {
		a[annotationClusterUID] = o.ClusterUID
	}
	if o.PlannerStateError != "" {
		a[annotationPlannerStateError] = o.PlannerStateError
	}
	if o.Redacted {
		a[annotationRedacted] = "true"
	}
	return a
}
