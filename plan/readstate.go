package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// StateKind is the kind of a PlannerState in a snapshot.
const StateKind = "PlannerState"

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
