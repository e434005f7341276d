package plan

import (
	"slices"
	"time"
)

// Mode says whether a pass evicts.
type Mode string

const (
	DryRun Mode = "dryRun"
	Live   Mode = "live"
)

// RunReport is a plan and what became of it.
type RunReport struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "RunReport"
	RunID      string    `json:"runID"`
	Mode       Mode      `json:"mode"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Plan       Plan      `json:"plan"`
	// Replan was planned later in the same pass, since not all of Plan came as planned:
	// moves no longer held when their turn came, or replacements landed elsewhere. Its
	// steps and waves go on from those of Plan; nil for none.
	Replan *Plan `json:"replan,omitempty"`
	// Approval says who had a saved plan carried out; nil for the plan of a pass.
	Approval *Approval `json:"approval,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
	// Stopped says why the pass ended before the plan did; nil when it did not.
	Stopped *Reason `json:"stopped"`
	// Recovery is set where another process made the evictions: this report may be
	// the second of its run, never another run.
	Recovery *Recovery `json:"recovery,omitempty"`
	// Inputs are files of this process whose newest content was refused; the one
	// before is in effect. Age is since when, Problems say why.
	Inputs []Input `json:"inputs,omitempty"`
}

// Moves are those of both plans of the pass.
func (r *RunReport) Moves() []Move {
	if r.Replan == nil {
		return r.Plan.Moves
	}
	return slices.Concat(r.Plan.Moves, r.Replan.Moves)
}

// Approval says who had a saved plan carried out, and when.
type Approval struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Recovery says whose run is reported: one that was found open when this process
// began, since who made it was ended before it could close it. That process may
// have written a report of it, with the same runID, as well.
type Recovery struct {
	Holder string `json:"holder"` // of the Lease, then
}

// EndedBeforePlanning reports whether the pass ended before anything was planned; Plan then
// says nothing but up to when the cluster was known.
func (r *RunReport) EndedBeforePlanning() bool {
	if r.Stopped == nil || len(r.Plan.Moves) > 0 {
		return false
	}
	switch r.Stopped.Code {
	case ClusterViewStale, StateUnavailable, APIError, Interrupted:
		return true
	}
	return false
}

// OutcomeKind is what became of one move.
type OutcomeKind string

const (
	Evicted        OutcomeKind = "evicted"
	WouldEvict     OutcomeKind = "wouldEvict"
	Blocked        OutcomeKind = "blocked"
	AlreadyGone    OutcomeKind = "gone"
	UnknownOutcome OutcomeKind = "unknown"
	Dropped        OutcomeKind = "dropped"
)

// Outcome is what became of one move and of its replacement.
type Outcome struct {
	Step              int         `json:"step"`
	Pod               PodRef      `json:"pod"`
	Outcome           OutcomeKind `json:"outcome"`
	Reason            Reason      `json:"reason"`
	Replacement       *PodRef     `json:"replacement,omitempty"`
	Landed            string      `json:"landed,omitempty"`
	LandedAsPredicted bool        `json:"landedAsPredicted"`
	ReadyAfter        string      `json:"readyAfter,omitempty"`
}
