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

// RunReport is a plan with the outcome of each move.
type RunReport struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "RunReport"
	RunID      string    `json:"runID"`
	Mode       Mode      `json:"mode"`
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Plan       Plan      `json:"plan"`
	// Replan is the second plan of the pass, made because a move of Plan failed or a
	// replacement landed elsewhere. Its steps and waves continue those of Plan. It is nil
	// if there was none.
	Replan *Plan `json:"replan,omitempty"`
	// Approval says who approved a saved plan. It is nil for the plan of a scheduled pass.
	Approval *Approval `json:"approval,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
	// Stopped says why the pass ended before the end of the plan. It is nil if the pass was
	// complete.
	Stopped *Reason `json:"stopped"`
	// Recovery is set if another process made the evictions. That process may already have
	// reported the same run.
	Recovery *Recovery `json:"recovery,omitempty"`
	// Inputs are changed files that this process refused, so their previous content is in
	// effect. Age is the time since the change, and Problems says why.
	Inputs []Input `json:"inputs,omitempty"`
}

// Moves returns the moves of Plan and Replan.
func (r *RunReport) Moves() []Move {
	if r.Replan == nil {
		return r.Plan.Moves
	}
	return slices.Concat(r.Plan.Moves, r.Replan.Moves)
}

// Approval says who approved a saved plan, and when.
type Approval struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Recovery says whose run is reported. This process found the run open when it started,
// because the other process ended before it closed the run. The other process may also have
// reported it, with the same runID.
type Recovery struct {
	Holder string `json:"holder"` // of the Lease during the run
}

// EndedBeforePlanning reports whether the pass ended before planning. Plan then only has
// the time up to which the cluster was known.
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

// OutcomeKind is the kind of an outcome.
type OutcomeKind string

const (
	Evicted        OutcomeKind = "evicted"
	WouldEvict     OutcomeKind = "wouldEvict"
	Blocked        OutcomeKind = "blocked"
	AlreadyGone    OutcomeKind = "gone"
	UnknownOutcome OutcomeKind = "unknown"
	Dropped        OutcomeKind = "dropped"
)

// Outcome is the outcome of a move and the landing of its replacement.
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

// LandedWell reports whether the replacement landed as predicted and became Ready.
func (o Outcome) LandedWell() bool {
	switch o.Reason.Code {
	case LandedElsewhere, ReplacementNotReady, ReplacementNotScheduled, OutcomeUnknown:
		return false
	}
	return o.Outcome == Evicted && o.LandedAsPredicted
}
