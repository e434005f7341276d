package plan

import (
	"slices"
	"time"
)

// Mode is dryRun for a pass that evicts nothing, and live for a pass that evicts.
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
	// Due are the strategies of the pass; nil means all.
	Due  []string `json:"-"`
	Plan Plan     `json:"plan"`
	// Replan is the second plan of a pass in which a move failed or a replacement landed elsewhere. Its steps and waves
	// continue the numbers of Plan. It is nil without a second plan.
	Replan *Plan `json:"replan,omitempty"`
	// Approval names the person who approved a saved plan. It is nil for the plan of a scheduled pass.
	Approval *Approval `json:"approval,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
	// Stopped is the reason why the pass ended early. It is nil if the pass was complete.
	Stopped *Reason `json:"stopped"`
	// Waiting are the plans that wait for approval. It is nil if the pass kept none and none waited before.
	Waiting *Waiting `json:"waiting,omitempty"`
	// Recovery is set if another process made the evictions. That process may already have reported the same run.
	Recovery *Recovery `json:"recovery,omitempty"`
	// Inputs are changed files that this process refused. Their previous content is in effect. Age
	// is the time since the change, and Problems are the reasons.
	Inputs []Input `json:"inputs,omitempty"`
}

// Moves returns the moves of Plan and Replan.
func (r *RunReport) Moves() []Move {
	if r.Replan == nil {
		return r.Plan.Whole().Moves
	}
	return slices.Concat(r.Plan.Whole().Moves, r.Replan.Moves)
}

// Approval is the approval of a saved plan.
type Approval struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
	// WaitingPlan is the ID of the waiting plan whose steps were approved. It is empty for a plan of `evenkeel apply`.
	WaitingPlan string `json:"waitingPlan,omitempty"`
	// Attempt is 2 or more if earlier processes took the plan and ended. Their reports, or the recovered runs, contain
	// their evictions.
	Attempt int `json:"attempt,omitempty"`
}

// Recovery names the process that started a recovered run. This process found the run open when it started. The
// previous process had ended before it closed the run. The other process may have reported the run too, with the same
// runID.
type Recovery struct {
	Holder string `json:"holder"` // of the Lease during the run
}

// StopCodes returns every code that RunReport.Stopped can have.
func StopCodes() []Code {
	return []Code{APIError, APIThrottled, AlertFiring, AlertsUnknown, BreakerOpen, ClusterViewStale, Interrupted, NotLeading,
		OtherReleaseActive, OutcomeUnknown, PassTimeout, Paused, PermissionMissing, PlanRefused, StateUnavailable}
}

// EndedBeforePlanning reports whether the pass ended before planning. The Plan of such a pass contains only the time of
// the snapshot. A plan that was made names its configuration.
func (r *RunReport) EndedBeforePlanning() bool {
	if r.Stopped == nil || r.Plan.ConfigHash != "" || len(r.Plan.Moves) > 0 {
		return false
	}
	switch r.Stopped.Code {
	case ClusterViewStale, StateUnavailable, PermissionMissing, APIError, Interrupted:
		return true
	}
	return false
}

// OutcomeKind says what became of a move.
type OutcomeKind string

const (
	Evicted        OutcomeKind = "evicted"
	WouldEvict     OutcomeKind = "wouldEvict"
	Blocked        OutcomeKind = "blocked"
	AlreadyGone    OutcomeKind = "gone"
	UnknownOutcome OutcomeKind = "unknown"
	// InProgress: another program has accepted the eviction and executes it later.
	InProgress OutcomeKind = "inProgress"
	Dropped    OutcomeKind = "dropped"
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
	// Removed reports that a pod that had ended is gone. No replacement follows such a pod.
	Removed bool `json:"removed,omitempty"`
	// Pending reports that no node takes the replacement of a move without a predicted place. The move accepts that.
	Pending bool `json:"pending,omitempty"`
	// At is when the eviction was accepted, or the pod was found gone; otherwise when the eviction was reserved. It is
	// zero without an eviction.
	At time.Time `json:"at,omitzero"`
}

// SetTime sets the time of an eviction that happened, or may have happened, if it is not known.
func (o *Outcome) SetTime(at time.Time) {
	if o.At.IsZero() && (o.Outcome == Evicted || o.Outcome == UnknownOutcome || o.Outcome == InProgress) {
		o.At = at
	}
}

// SawReady reports whether the pass has seen the replacement Ready, wherever it landed.
func (o Outcome) SawReady() bool { return o.ReadyAfter != "" || o.LandedWell() && !o.Pending }

// LandedWell reports whether the replacement landed as predicted and became Ready, no replacement was to follow, or the
// replacement may stay Pending.
func (o Outcome) LandedWell() bool {
	switch o.Reason.Code {
	case LandedElsewhere, ReplacementNotReady, ReplacementNotScheduled, OutcomeUnknown:
		return false
	}
	return o.Outcome == Evicted && (o.LandedAsPredicted || o.Removed || o.Pending)
}
