package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// PlannerStateKind is the kind of a PlannerState as a document.
const PlannerStateKind = "PlannerState"

// ReadPlannerState reads a PlannerState from JSON. Empty text gives an empty state. The error names the invalid field.
func ReadPlannerState(text []byte) (PlannerState, error) {
	st := PlannerState{APIVersion: APIVersion, Kind: PlannerStateKind}
	if err := st.decode(text); err != nil {
		return PlannerState{}, fmt.Errorf("reading the PlannerState: %w", err)
	}
	st.Sort()
	return st, nil
}

func (st *PlannerState) decode(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	var head struct{ APIVersion, Kind string }
	if json.Unmarshal(text, &head) == nil && (head.APIVersion != APIVersion || head.Kind != PlannerStateKind) {
		st.APIVersion, st.Kind = head.APIVersion, head.Kind
		return st.Validate()
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(st); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the document")
	}
	return st.Validate()
}

// Validate returns an error that names the first invalid field.
func (st *PlannerState) Validate() error {
	if st.APIVersion != APIVersion || st.Kind != PlannerStateKind {
		return fmt.Errorf("the document is a %s %s (want %s %s)", st.APIVersion, st.Kind, APIVersion, PlannerStateKind)
	}
	for i, e := range st.Evictions {
		if e.Count < 1 || e.Workload.Name == "" || e.Minute.IsZero() {
			return fmt.Errorf("evictions[%d]: want a workload, a minute, and a count of 1 or more", i)
		}
	}
	for i, b := range st.Backoffs {
		if b.Failures < 1 || b.Workload.Name == "" || b.Until.Before(b.Since) {
			return fmt.Errorf("backoffs[%d]: want a workload, 1 failure or more, and since before until", i)
		}
	}
	for i, r := range st.Runs {
		if r.RunID == "" {
			return fmt.Errorf("runs[%d].runID: missing", i)
		}
		for j, x := range r.Reservations {
			if x.Pod.UID == "" || x.Workload.Name == "" {
				return fmt.Errorf("runs[%d].reservations[%d]: want a workload, and a pod with its UID", i, j)
			}
		}
	}
	if n := len(st.Schedulers); n > MaxSchedulers {
		return fmt.Errorf("schedulers: %d entries (want at most %d)", n, MaxSchedulers)
	}
	for name, b := range st.Schedulers {
		if name == "" || b.Hits < 0 || b.Hits > b.Predicted || b.Predicted > b.Seen {
			return fmt.Errorf("schedulers[%q]: want 0 <= hits <= predicted <= seen, and a name", name)
		}
	}
	return nil
}

// Sort sorts all lists in place.
func (st *PlannerState) Sort() {
	slices.SortStableFunc(st.Evictions, func(a, b EvictionCount) int {
		return cmp.Or(a.Workload.Compare(b.Workload), a.Minute.Compare(b.Minute))
	})
	slices.SortStableFunc(st.Backoffs, func(a, b Backoff) int { return a.Workload.Compare(b.Workload) })
	slices.SortStableFunc(st.Runs, func(a, b OpenRun) int { return cmp.Compare(a.RunID, b.RunID) })
	for _, r := range st.Runs {
		slices.SortStableFunc(r.Reservations, func(a, b Reservation) int {
			return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Pod.UID, b.Pod.UID))
		})
	}
}

// PlannerStateSource is the Input.Source of the planner state.
const PlannerStateSource = "plannerState"

// UnknownStateInput returns the Input of a plan that was made without the planner state. age is the time since the last
// successful read of the state, and why is the reason why the last read failed.
func UnknownStateInput(age, why string) Input {
	return Input{Source: PlannerStateSource, Age: age,
		Problems: []string{"the planner state is unknown, so the plan ignores backoffs and hourly eviction counts: " + why}}
}
