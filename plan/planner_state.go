package plan

import "time"

// PlannerState is what is remembered between passes, across restarts and from
// one leader to the next. It holds only what still matters: entries end by
// themselves (planner/history says when). Lists are sorted, so that the same
// memory gives the same bytes.
type PlannerState struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "PlannerState"
	// SpentBudgets are PodDisruptionBudgets (namespace/name) whose allowance an
	// eviction answered 409 may have consumed, until the time given.
	SpentBudgets map[string]time.Time `json:"spentBudgets,omitempty"`
	// Evictions are those of the last hour, with those reserved.
	Evictions []EvictionCount `json:"evictions,omitempty"`
	// Backoffs are the workloads that rest after a bad landing, or lately did.
	Backoffs []Backoff `json:"backoffs,omitempty"`
	// Runs are passes that evict and have not been reported yet.
	Runs []OpenRun `json:"runs,omitempty"`
	// Pause is set while people want no evictions.
	Pause *Pause `json:"pause,omitempty"`
	// Breaker is set while the breaker holds passes.
	Breaker *BreakerTrip `json:"breaker,omitempty"`
	// Benefits are what evictions were foretold to bring and what they brought,
	// by strategy.
	Benefits map[string]Benefit `json:"benefits,omitempty"`
	// Schedulers are the bindings of schedulers without a profile, by
	// schedulerName; at most MaxSchedulers.
	Schedulers map[string]SchedulerBindings `json:"schedulers,omitempty"`
}

// EvictionCount counts the evictions of a workload in one minute. The workload
// carries no UID: one that is made anew is limited by what befell the last.
type EvictionCount struct {
	Workload ObjectRef `json:"workload"`
	Minute   time.Time `json:"minute"`
	Count    int       `json:"count"`
	// First is when the first of them was noted down, before it was made; zero: not known.
	First time.Time `json:"first,omitzero"`
}

// Backoff is the rest of one workload: none of its pods is evicted before Until.
type Backoff struct {
	Workload ObjectRef `json:"workload"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	// Failures are the passes in a row after which its pods did not settle.
	Failures int `json:"failures"`
	// Reason is the last of them.
	Reason Reason `json:"reason"`
}

// OpenRun is a pass that has reserved evictions and has not been reported.
type OpenRun struct {
	RunID   string    `json:"runID"`
	Holder  string    `json:"holder"` // of the Lease
	Started time.Time `json:"started"`
	// Reservations are written before the wave that they are for.
	Reservations []Reservation `json:"reservations"`
}

// Reservation is an eviction that may be asked for from now on, and what became
// of it once that is known.
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

// Pause says who wants no evictions, and why.
type Pause struct {
	Since time.Time `json:"since"`
	// Until is when it ends by itself; zero: it does not.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
}

// BreakerTrip says why the breaker holds passes.
type BreakerTrip struct {
	At     time.Time `json:"at"`
	Reason Reason    `json:"reason"`
	// Until is the earliest end; the condition must be gone as well.
	Until time.Time `json:"until"`
	// Pods (UIDs) became unschedulable in the pass that was stopped.
	Pods []string `json:"pods,omitempty"`
}

// Benefit sums, over the evictions of a strategy, the share of its goals' excess
// that they were foretold to remove and that they removed. Older ones count for
// less (planner/history).
type Benefit struct {
	Evictions float64 `json:"evictions"`
	Predicted float64 `json:"predicted"`
	Realised  float64 `json:"realised"`
	// SuspendedUntil is set while the strategy is held because it does not pay off.
	SuspendedUntil time.Time `json:"suspendedUntil,omitzero"`
}
