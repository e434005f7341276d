package plan

import "time"

// PlannerState is what Evenkeel stores between passes. It survives restarts and changes of
// the leader. Entries expire (see planner/history). Lists are sorted, so the same state
// gives the same bytes.
type PlannerState struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "PlannerState"
	// SpentBudgets are PodDisruptionBudgets (namespace/name) whose allowance an eviction
	// with answer 409 may have consumed. Each entry is valid until its time.
	SpentBudgets map[string]time.Time `json:"spentBudgets,omitempty"`
	// Evictions counts the evictions of the last hour, including reserved ones.
	Evictions []EvictionCount `json:"evictions,omitempty"`
	// Backoffs are the workloads in backoff after a failed landing, and those that recently
	// were.
	Backoffs []Backoff `json:"backoffs,omitempty"`
	// Runs are live passes without a report yet.
	Runs []OpenRun `json:"runs,omitempty"`
	// Pause is set while an operator has paused evictions.
	Pause *Pause `json:"pause,omitempty"`
	// Breaker is set while the breaker is open.
	Breaker *BreakerTrip `json:"breaker,omitempty"`
	// Benefits are the predicted and the measured benefit of evictions, by strategy.
	Benefits map[string]Benefit `json:"benefits,omitempty"`
	// Schedulers counts the bindings of schedulers without a profile, by schedulerName. It
	// has at most MaxSchedulers entries.
	Schedulers map[string]SchedulerBindings `json:"schedulers,omitempty"`
}

// EvictionCount counts the evictions of a workload in one minute. The workload has no UID,
// so the evictions also count for a workload that is created again.
type EvictionCount struct {
	Workload ObjectRef `json:"workload"`
	Minute   time.Time `json:"minute"`
	Count    int       `json:"count"`
	// First is the time at which the first eviction was recorded, before it was requested.
	// Zero means unknown.
	First time.Time `json:"first,omitzero"`
}

// Backoff forbids evictions of the pods of a workload before Until.
type Backoff struct {
	Workload ObjectRef `json:"workload"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	// Failures is the number of consecutive passes with a failed landing.
	Failures int `json:"failures"`
	// Reason is the reason of the last failure.
	Reason Reason `json:"reason"`
}

// OpenRun is a pass that has reserved evictions and has no report yet.
type OpenRun struct {
	RunID   string    `json:"runID"`
	Holder  string    `json:"holder"` // of the Lease
	Started time.Time `json:"started"`
	// Reservations are stored before their wave starts.
	Reservations []Reservation `json:"reservations"`
}

// Reservation is an eviction that the controller may request, with its outcome once that is
// known.
type Reservation struct {
	Step     int       `json:"step"`
	Wave     int       `json:"wave"`
	Pod      PodRef    `json:"pod"`
	Workload ObjectRef `json:"workload"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Strategy string    `json:"strategy"`
	Reason   Reason    `json:"reason"` // why the pod is moved
	At       time.Time `json:"at"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
}

// Pause says who paused evictions, and why.
type Pause struct {
	Since time.Time `json:"since"`
	// Until is when the pause ends. Zero means that an operator must end it.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
}

// BreakerTrip says why the breaker is open.
type BreakerTrip struct {
	At     time.Time `json:"at"`
	Reason Reason    `json:"reason"`
	// Until is the earliest time at which the breaker closes. The cause must be gone as
	// well.
	Until time.Time `json:"until"`
	// Pods are the UIDs of the pods that became unschedulable in the stopped pass.
	Pods []string `json:"pods,omitempty"`
}

// Benefit sums the predicted and the measured reduction of excess over the evictions of a
// strategy, as shares of the excess. Older evictions count less (planner/history).
type Benefit struct {
	Evictions float64 `json:"evictions"`
	Predicted float64 `json:"predicted"`
	Realised  float64 `json:"realised"`
	// SuspendedUntil is set while the strategy is suspended because its evictions are
	// ineffective.
	SuspendedUntil time.Time `json:"suspendedUntil,omitzero"`
}
