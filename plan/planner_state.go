package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// PlannerState is the data that Evenkeel stores between passes. It survives restarts and changes of the leader. Entries
// expire (see planner/history). Lists are sorted, so equal states have equal bytes.
type PlannerState struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "PlannerState"
	// SpentBudgets are PodDisruptionBudgets (namespace/name) whose allowance a refused eviction
	// (409) may have consumed. Each entry is valid until its time.
	SpentBudgets map[string]time.Time `json:"spentBudgets,omitempty"`
	// Evictions counts the evictions of the last hour, including reserved ones.
	Evictions []EvictionCount `json:"evictions,omitempty"`
	// Backoffs are the current and recent backoffs of workloads after a bad landing.
	Backoffs []Backoff `json:"backoffs,omitempty"`
	// Background are evictions that had not ended when their pass did.
	Background []BackgroundEviction `json:"background,omitempty"`
	// Runs are live passes that have no report yet.
	Runs []OpenRun `json:"runs,omitempty"`
	// Pause is set while an operator has paused evictions. Rebalancer is the UID of the object that has the pause, so
	// that a deleted object does not end a pause.
	Pause      *Pause `json:"pause,omitempty"`
	Rebalancer string `json:"rebalancer,omitempty"`
	// Breaker is set while the breaker is open.
	Breaker *BreakerTrip `json:"breaker,omitempty"`
	// UnreadyNodes are the nodes that were not Ready when they were last seen. It has at most MaxUnreadyNodes entries.
	UnreadyNodes []UnreadyNode `json:"unreadyNodes,omitempty"`
	// Schedulers counts the bindings of schedulers, by schedulerName. It has at most MaxSchedulers
	// entries.
	Schedulers map[string]SchedulerBindings `json:"schedulers,omitempty"`
	// Announced identifies the conditions about which receivers of notifications were told, and
	// which still hold. It has at most MaxAnnounced entries.
	Announced []string `json:"announced,omitempty"`
	// StrategyRuns has the times of the last passes of strategies with onNodeReady, by name. It has at most
	// MaxStrategyRuns entries.
	StrategyRuns map[string]StrategyRun `json:"strategyRuns,omitempty"`
	// Made identifies the stored plans that wait, or whose discarded moves are not proposed again yet, as far as a pass
	// made them. It has at most MaxMade entries.
	Made []StoredPlan `json:"made,omitempty"`
	// Discarded are the moves that a person discarded. They are stored with their plans, not with the other fields. It
	// has at most MaxDiscarded entries.
	Discarded []DiscardedMove `json:"discarded,omitempty"`
}

// MaxMade is the maximum number of entries in PlannerState.Made.
const MaxMade = 100

// StoredPlan identifies a RebalancePlan, and a hash of its spec.
type StoredPlan struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	Hash string `json:"hash"`
}

// EvictionCount counts the evictions of a workload for one strategy in one minute. The workload has no UID,
// so the evictions also count for a workload that is created again.
type EvictionCount struct {
	Workload ObjectRef `json:"workload"`
	Minute   time.Time `json:"minute"`
	Count    int       `json:"count"`
	// First is the time at which the controller reserved the first of these evictions. Zero means unknown.
	First time.Time `json:"first,omitzero"`
	// Strategy is the strategy for which the pods were evicted. It is empty in entries of earlier versions.
	Strategy string `json:"strategy,omitempty"`
}

// Backoff forbids evictions of the pods of a workload before Until: a replacement landed badly, or admission refused an
// eviction.
type Backoff struct {
	Workload ObjectRef `json:"workload"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	// Failures is the number of consecutive passes with such a failure.
	Failures int `json:"failures"`
	// Reason is the reason of the last failure.
	Reason Reason `json:"reason"`
}

// Cause says in a few words what failed.
func (b Backoff) Cause() string {
	switch b.Reason.Code {
	case BlockedByAdmission:
		return "admission refused an eviction"
	case EvictionInBackground:
		return "an eviction did not end"
	case OutcomeUnknown:
		return "the outcome of an eviction is unknown"
	}
	return "a replacement failed"
}

// BackgroundEviction is an eviction that ends later than its pass: another program executes it, such as the live
// migration of a virtual machine, or the pass did not see the replacement Ready.
type BackgroundEviction struct {
	Pod      PodRef    `json:"pod"`
	Workload ObjectRef `json:"workload"`
	From     string    `json:"from"`
	Since    time.Time `json:"since"`
	// Until is the time from which the eviction counts as failed, and no longer as in flight.
	Until time.Time `json:"until"`
	// AwaitsReplacement is set if the API server has evicted the pod, or may have.
	AwaitsReplacement bool `json:"awaitsReplacement,omitempty"`
}

// OpenRun is a pass with reserved evictions and without a report.
type OpenRun struct {
	RunID   string    `json:"runID"`
	Holder  string    `json:"holder"` // of the Lease
	Started time.Time `json:"started"`
	// Plan is the name of the RebalancePlan of the pass, or "".
	Plan string `json:"plan,omitempty"`
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
	// RequestOnly is that of the move. The pod may be moving although it is still there.
	RequestOnly RequestOnly `json:"requestOnly,omitempty"`
	Outcome     *Outcome    `json:"outcome,omitempty"`
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
	// Summary is the reason without names and without messages of other programs.
	Summary string `json:"summary,omitempty"`
	// Pods are the UIDs of the pods that became unschedulable in the stopped pass.
	Pods []string `json:"pods,omitempty"`
}

// UnreadyNode is a node that was not Ready when it was last seen, and that was not marked for removal.
type UnreadyNode struct {
	Name string `json:"name"`
	// Seen is the time at which the node was last seen. If its deletion was seen, it is the time of the deletion.
	Seen time.Time `json:"seen"`
	// Nodes is the number of nodes of the cluster at that time, including this one.
	Nodes int `json:"nodes"`
}

// MaxAnnounced is the maximum number of announced conditions in a PlannerState, and maxAnnouncedBytes the maximum size
// of each.
const (
	MaxAnnounced      = 32
	maxAnnouncedBytes = 512
)

// MaxUnreadyNodes is the maximum number of unready nodes in a PlannerState.
const MaxUnreadyNodes = 5000

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

// AgeText writes the age of a pause, in whole days from two days on.
func AgeText(age time.Duration) string {
	if days := int(age / (24 * time.Hour)); days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return age.Truncate(time.Second).String()
}

// Block returns the pause as an EvictionBlock. The message contains the author, start, end and reason of the pause.
func (p *Pause) Block() EvictionBlock {
	text := "evictions are paused"
	if !p.Since.IsZero() {
		text = "evictions have been paused since " + p.Since.UTC().Format(time.RFC3339)
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
	for i, b := range st.Background {
		if b.Pod.UID == "" || b.Workload.Name == "" || b.Until.Before(b.Since) {
			return fmt.Errorf("background[%d]: want a workload, a pod with its UID, and since before until", i)
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
	if n := len(st.UnreadyNodes); n > MaxUnreadyNodes {
		return fmt.Errorf("unreadyNodes: %d entries (want at most %d)", n, MaxUnreadyNodes)
	}
	for i, n := range st.UnreadyNodes {
		if n.Name == "" || n.Nodes < 1 || n.Seen.IsZero() {
			return fmt.Errorf("unreadyNodes[%d]: want a name, a time, and 1 node or more", i)
		}
	}
	if n := len(st.Schedulers); n > MaxSchedulers {
		return fmt.Errorf("schedulers: %d entries (want at most %d)", n, MaxSchedulers)
	}
	for name, b := range st.Schedulers {
		if name == "" || b.Hits < 0 || b.Hits > b.Predicted || b.Predicted > b.Seen || b.MostWrong < 0 || b.MostWrong > b.Predicted-b.Hits {
			return fmt.Errorf("schedulers[%q]: want 0 <= hits <= predicted <= seen, mostWrong of the wrong ones, and a name", name)
		}
	}
	if err := st.validateAnnounced(); err != nil {
		return err
	}
	if n := len(st.Made); n > MaxMade {
		return fmt.Errorf("made: %d entries (want at most %d)", n, MaxMade)
	}
	if err := st.validateDiscarded(); err != nil {
		return err
	}
	return st.validateStrategyRuns()
}

func (st *PlannerState) validateAnnounced() error {
	if n := len(st.Announced); n > MaxAnnounced {
		return fmt.Errorf("announced: %d entries (want at most %d)", n, MaxAnnounced)
	}
	for i, key := range st.Announced {
		if key == "" || len(key) > maxAnnouncedBytes {
			return fmt.Errorf("announced[%d]: want 1 to %d bytes", i, maxAnnouncedBytes)
		}
	}
	return nil
}

// Sort sorts all lists in place.
func (st *PlannerState) Sort() {
	slices.SortStableFunc(st.Evictions, func(a, b EvictionCount) int {
		return cmp.Or(a.Workload.Compare(b.Workload), a.Minute.Compare(b.Minute), cmp.Compare(a.Strategy, b.Strategy))
	})
	slices.SortStableFunc(st.Backoffs, func(a, b Backoff) int { return a.Workload.Compare(b.Workload) })
	slices.SortStableFunc(st.UnreadyNodes, func(a, b UnreadyNode) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(st.Background, func(a, b BackgroundEviction) int { return cmp.Compare(a.Pod.UID, b.Pod.UID) })
	slices.SortStableFunc(st.Runs, func(a, b OpenRun) int { return cmp.Compare(a.RunID, b.RunID) })
	slices.Sort(st.Announced)
	slices.SortStableFunc(st.Made, func(a, b StoredPlan) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(st.Discarded, func(a, b DiscardedMove) int {
		return cmp.Or(cmp.Compare(a.Strategy, b.Strategy), cmp.Compare(a.PodUID, b.PodUID), a.At.Compare(b.At))
	})
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

// MaxSchedulers is the maximum number of schedulers whose bindings are counted.
const MaxSchedulers = 16

// SchedulerBindings counts the observed bindings of one scheduler.
type SchedulerBindings struct {
	Seen int `json:"seen"`
	// Predicted is the number of bindings with a prediction, and Hits the number of correct
	// predictions among them. Only the latest 50 bindings count.
	Predicted int `json:"predicted"`
	Hits      int `json:"hits"`
	// MostWrong is the number of wrong predictions about pods of the namespace that has most of them. It is 0 if only
	// one namespace has predictions.
	MostWrong int `json:"mostWrong,omitempty"`
	// Model identifies the Kubernetes version and the profile of the predictions. Counts with
	// another model are ignored. Empty means the version of the snapshot and the default profile.
	Model string `json:"model,omitempty"`
}

// HitRate returns the share 0..1 of correct predictions, or 0 without predictions.
func (b SchedulerBindings) HitRate() float64 {
	if b.Predicted == 0 {
		return 0
	}
	return float64(b.Hits) / float64(b.Predicted)
}

// SchedulerState says whether the predictions of a scheduler are trusted.
type SchedulerState struct {
	Name string `json:"name"`
	// Pods is the number of its pods in the cluster.
	Pods int `json:"pods"`
	// Seen, Predicted and Hits have the meaning of SchedulerBindings.
	Seen      int `json:"seen"`
	Predicted int `json:"predicted"`
	Hits      int `json:"hits"`
	// HitRate is the share 0..1 of correct predictions. It is nil without predictions.
	HitRate *float64 `json:"hitRate,omitempty"`
	// Trusted reports that Evenkeel may move the scheduler's pods.
	Trusted bool `json:"trusted"`
	// Planned reports that the plan moves the pods of an untrusted scheduler. Such a plan is never executed.
	Planned bool `json:"planned,omitempty"`
	// Contradicted reports that so many predictions were wrong that the next ones cannot make enough of them right.
	Contradicted bool `json:"contradicted,omitempty"`
	// Reason says why the scheduler is not trusted.
	Reason string `json:"reason,omitempty"`
}
