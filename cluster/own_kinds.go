package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Evenkeel defines these kinds for snapshots. This package stores a PlannerState of any version
// without decoding it.
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
	annotationStoppedAt         = "evenkeel.io/stopped-at"
	annotationServerVersion     = "evenkeel.io/server-version"
	annotationClusterUID        = "evenkeel.io/cluster-uid"
	annotationRedacted          = "evenkeel.io/redacted"
	annotationPlannerStateError = "evenkeel.io/state-unknown"
	annotationUnread            = "evenkeel.io/kinds-unread"
	annotationUnreadVersions    = "evenkeel.io/versions-unread"
	annotationListed            = "evenkeel.io/kinds-listed"
)

// textAnnotations maps annotations of the List to the fields with the same text.
func (o *Objects) textAnnotations() map[string]*string {
	return map[string]*string{annotationServerVersion: &o.ServerVersion, annotationClusterUID: &o.ClusterUID,
		annotationPlannerStateError: &o.PlannerStateError}
}

// mapAnnotations maps annotations of the List to the fields that they contain as JSON.
func (o *Objects) mapAnnotations() map[string]*map[string]string {
	return map[string]*map[string]string{annotationUnread: &o.Unread, annotationUnreadVersions: &o.UnreadVersions}
}

// applyListAnnotations reads the annotations of a snapshot's List.
func (o *Objects) applyListAnnotations(a map[string]string, at string) error {
	for key, field := range o.textAnnotations() {
		if v, ok := a[key]; ok {
			*field = v
		}
	}
	for key, field := range o.mapAnnotations() {
		if v, ok := a[key]; ok {
			if err := json.Unmarshal([]byte(v), field); err != nil {
				return fmt.Errorf("%s: annotation %s: %q is not a JSON object of strings", at, key, v)
			}
		}
	}
	if v, ok := a[annotationListed]; ok {
		o.Listed = append(o.Listed, strings.Split(v, ", ")...)
	}
	if v, ok := a[annotationStoppedAt]; ok {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: annotation %s: %q is not a whole number of 1 or more", at, annotationStoppedAt, v)
		}
		o.StoppedAt = n
	}
	v, ok := a[annotationTakenAt]
	if !ok {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil {
		return fmt.Errorf("%s: annotation %s: %q is not a time such as 2026-01-02T15:04:05Z", at, annotationTakenAt, v)
	}
	if t.After(o.TakenAt) {
		o.TakenAt = t
	}
	return nil
}

func (o *Objects) listAnnotations() map[string]string {
	a := map[string]string{}
	for key, field := range o.textAnnotations() {
		if *field != "" {
			a[key] = *field
		}
	}
	for key, field := range o.mapAnnotations() {
		if len(*field) > 0 {
			text, _ := json.Marshal(*field) // cannot fail: the map holds only strings
			a[key] = string(text)
		}
	}
	if len(o.Listed) > 0 {
		a[annotationListed] = strings.Join(o.Listed, ", ")
	}
	if !o.TakenAt.IsZero() {
		a[annotationTakenAt] = o.TakenAt.UTC().Format(time.RFC3339Nano)
	}
	if o.StoppedAt > 0 {
		a[annotationStoppedAt] = strconv.FormatInt(o.StoppedAt, 10)
	}
	if o.Redacted {
		a[annotationRedacted] = "true"
	}
	return a
}
