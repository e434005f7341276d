package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// PlannerState is what the planner remembers between passes. Beside snapshot,
// configuration and time it is all that a plan depends on.
type PlannerState struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "PlannerState"
	// SpentBudgets are PodDisruptionBudgets (namespace/name) whose allowance an
	// eviction answered 409 may have consumed, until the time given.
	SpentBudgets map[string]time.Time `json:"spentBudgets,omitempty"`
	// Schedulers are the bindings of schedulers without a profile, by
	// schedulerName; at most MaxSchedulers.
	Schedulers map[string]Bindings `json:"schedulers,omitempty"`
}

// StateKind is the kind of a PlannerState in a snapshot.
const StateKind = "PlannerState"

// MaxSchedulers bounds of how many schedulers bindings are counted.
const MaxSchedulers = 16

// Bindings counts bindings of one scheduler that were looked at.
type Bindings struct {
	Seen int `json:"seen"`
	// Foretold are those of which the default profile says enough to be right or
	// wrong about them.
	Foretold int `json:"foretold"`
	// Hits are those of Foretold that went where the default profile has them go.
	Hits int `json:"hits"`
}

// HitRate is the share 0..1 of foretold bindings that came true; 0 of none.
func (b Bindings) HitRate() float64 {
	if b.Foretold == 0 {
		return 0
	}
	return float64(b.Hits) / float64(b.Foretold)
}

// SchedulerState is what is known of a scheduler without a profile.
type SchedulerState struct {
	Name string `json:"name"`
	// Pods of it that stand in the cluster.
	Pods int `json:"pods"`
	Bindings
	// HitRate is the share 0..1 of Foretold that came true; nil while none is.
	HitRate *float64 `json:"hitRate,omitempty"`
	// Trusted: it is taken for the default profile, so that its pods may move.
	Trusted bool `json:"trusted"`
}

// ReadState reads a PlannerState as JSON; no text is an empty one. The error says
// what in it cannot be.
func ReadState(text []byte) (PlannerState, error) {
	st := PlannerState{APIVersion: APIVersion, Kind: StateKind}
	if len(text) == 0 {
		return st, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&st); err != nil {
		return PlannerState{}, fmt.Errorf("reading the PlannerState: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return PlannerState{}, fmt.Errorf("reading the PlannerState: something stands behind it")
	}
	if st.APIVersion != APIVersion || st.Kind != StateKind {
		return PlannerState{}, fmt.Errorf("reading the PlannerState: it is a %s %s (want %s %s)", st.APIVersion, st.Kind, APIVersion, StateKind)
	}
	if n := len(st.Schedulers); n > MaxSchedulers {
		return PlannerState{}, fmt.Errorf("reading the PlannerState: schedulers: %d are too many (want at most %d)", n, MaxSchedulers)
	}
	for name, b := range st.Schedulers {
		if name == "" || b.Hits < 0 || b.Hits > b.Foretold || b.Foretold > b.Seen {
			return PlannerState{}, fmt.Errorf("reading the PlannerState: schedulers[%q]: want 0 <= hits <= foretold <= seen, and a name", name)
		}
	}
	return st, nil
}
