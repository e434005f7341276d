package plan

import "time"

// PlannerState is the data that Evenkeel stores between passes. It survives restarts and changes of the leader. Entries
// expire (see planner/history). Lists are sorted, so equal states have equal bytes.
type PlannerState struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "PlannerState"
	// SpentBudgets are PodDisruptionBudgets (namespace/name) whose allowance a refused eviction (409) may have consumed.
	// Each entry is valid until its time.
	SpentBudgets map[string]time.Time `json:"spentBudgets,omitempty"`
	// Evictions counts the evictions of the last hour, including reserved ones.
	Evictions []EvictionCount `json:"evictions,omitempty"`
	// Backoffs are the current and recent backoffs of workloads after a bad landing.
	Backoffs []Backoff `json:"backoffs,omitempty"`
	// Runs are live passes that have no report yet.
	Runs []OpenRun `json:"runs,omitempty"`
	// Pause is set while an operator has paused evictions.
	Pause *Pause `json:"pause,omitempty"`
	// Breaker is set while the breaker is open.
	Breaker *BreakerTrip `json:"breaker,omitempty"`
	// Schedulers counts the bindings of schedulers without a profile, by schedulerName. It has at most MaxSchedulers
	// entries.
	Schedulers map[string]SchedulerBindings `json:"schedulers,omitempty"`
}

// EvictionCount counts the evictions of a workload in one minute. The workload has no UID,
// so the evictions also count for a workload that is created again.
type EvictionCount struct {
	Workload ObjectRef `json:"workload"`
	Minute   time.Time `json:"minute"`
	Count    int       `json:"count"`
	// First is the time at which the controller reserved the first of these evictions. Zero means unknown.
	First time.Time `json:"first,omitzero"`
}

// Backoff forbids evictions of the pods of a workload before Until.
type Backoff struct {
	Workload ObjectRef `json:"workload"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	// Failures is the number of consecutive passes with a bad landing.
	Failures int `json:"failures"`
	// Reason is the reason of the last failure.
	Reason Reason `json:"reason"`
}

// OpenRun is a pass with reserved evictions and without a report.
type OpenRun struct {
	RunID   string    `json:"runID"`
	Holder  string    `json:"holder"` // of the Lease
	Started time.Time `json:"started"`
	// Reservations are stored before their wave starts.
	Reservations []Reservation `json:"reservations"`
}

// Reservation is an eviction that the controller may request. Outcome is nil until the outcome is known.
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

// Pause is a pause of evictions by an operator.
type Pause struct {
	Since time.Time `json:"since"`
	// Until is the end of the pause. Zero means that an operator must end the pause.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
}

// BreakerTrip is the reason why the breaker is open.
type BreakerTrip struct {
	At     time.Time `json:"at"`
	Reason Reason    `json:"reason"`
	// Until is the earliest time at which the breaker closes. The breaker stays open while its cause persists.
	Until time.Time `json:"until"`
	// Pods are the UIDs of the pods that became unschedulable in the stopped pass.
	Pods []string `json:"pods,omitempty"`
}

// EvictionBlock is a reason why the controller does not evict. Paused and BreakerOpen block all evictions.
type EvictionBlock struct {
	Reason Reason    `json:"reason"`
	Since  time.Time `json:"since,omitzero"`
	// Until is the earliest time at which the block ends without an operator. Zero means unknown.
	Until time.Time `json:"until,omitzero"`
}

// ActiveAt reports whether the pause is active at a time.
func (p *Pause) ActiveAt(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || now.Before(p.Until))
}

// Block returns the pause as an EvictionBlock. The message contains the author, start, end and reason of the pause.
func (p *Pause) Block() EvictionBlock {
	text := "evictions are paused"
	if !p.Since.IsZero() {
		text += " since " + p.Since.UTC().Format(time.RFC3339)
	}
	text += " by " + p.By
	if !p.Until.IsZero() {
		text += ", until " + p.Until.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return EvictionBlock{Reason: Reason{Code: Paused, Message: text}, Since: p.Since, Until: p.Until}
}
