// Package plan defines the data that flows through Evenkeel: goals, moves, rejections, plans, run reports and planner
// state. The JSON form of the state is stable.
//
// The package decides nothing. It rounds floats and orders lists, so equal plans have equal bytes. It never reads a
// clock, a client or the environment.
package plan

import "time"

// Plan is the result of the planner: the moves in order, the rejected pods with reasons,
// and the state of the cluster before and after the moves.
type Plan struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Plan"
	ID         string    `json:"id"`   // content hash, see ContentID
	TakenAt    time.Time `json:"takenAt"`
	// TakenAtEstimated reports that the snapshot does not record when it was taken. TakenAt
	// is then the newest time in the snapshot.
	TakenAtEstimated bool        `json:"takenAtEstimated,omitempty"`
	Expires          time.Time   `json:"expires"`
	Cluster          ClusterInfo `json:"cluster"`
	ConfigHash       string      `json:"configHash"`
	// NothingJudged lists the causes why the pass could judge nothing: no strategy could measure a
	// goal, no replacement could be predicted for a reason that lies in the server or the
	// schedulers, or the cluster could not be read. It is empty if the pass judged something.
	// NothingJudgedCodes lists the possible codes.
	NothingJudged []Reason `json:"nothingJudged,omitempty"`
	Moves         []Move   `json:"moves"`
	// Proposals are the plans of strategies in the modes Approve and ShowOnly, in this order. A mode is left out if no
	// strategy in this mode is due and states a goal.
	Proposals []Proposal `json:"proposals,omitempty"`
	// Hints are the steering hints on nodes, by wave. Waves without hints are left out.
	Hints []WaveHints `json:"hints,omitempty"`
	// Pressure lists the pressure hints, sorted by node.
	Pressure   []PressureHint `json:"pressure,omitempty"`
	Rejections Rejections     `json:"rejections"`
	// Goals are those with excess before. Of the kind PodAway, it lists those that a move improves
	// and the first others of each strategy; PodGoals counts all.
	Goals []Goal `json:"goals"`
	// PodGoals counts the goals of the kind PodAway with excess before, by strategy.
	PodGoals []PodGoals `json:"podGoals,omitempty"`
	// Strategies lists all enabled strategies in the order of the configuration. A proposal lists those in its mode.
	Strategies []StrategyState `json:"strategies"`
	// HintsNoData is the reason why no pressure hint rule has data for any node. It is empty if a rule has data, or
	// without rules.
	HintsNoData string `json:"hintsNoData,omitempty"`
	// Schedulers lists the untrusted schedulers and those with counted bindings, sorted by name.
	Schedulers []SchedulerState `json:"schedulers,omitempty"`
	Before     State            `json:"before"`
	After      State            `json:"after"`
	Bound      Bound            `json:"bound"`
	Inputs     []Input          `json:"inputs"`
	// WindowLimits are the configuration keys of the limits of open windows that apply beside the limits of the
	// configuration, such as windows.allow[0].limits.
	WindowLimits []string `json:"windowLimits,omitempty"`
	// OtherDeschedulers are the other programs that evict pods to move them, sorted by namespace, kind and name.
	OtherDeschedulers []OtherDescheduler `json:"otherDeschedulers,omitempty"`
	// Blocks are the reasons why planned moves are not executed.
	Blocks []EvictionBlock `json:"blocks,omitempty"`
	// SearchLimitReached names the limit that ended the search early. It is empty if the search was complete.
	SearchLimitReached string `json:"searchLimitReached,omitempty"`
	// StoppedAt is the work after which limits.maxPlanTime ended the search; 0 if it did not. The same input with this
	// number gives the same plan.
	StoppedAt int64 `json:"stoppedAt,omitempty"`
	// GoalsNotTried is the number of unmet goals at which a search that ended early did not look.
	GoalsNotTried int `json:"goalsNotTried,omitempty"`
	// GoalsNotMovable is the number of unmet goals that were not searched, because none of their pods may leave.
	GoalsNotMovable int `json:"goalsNotMovable,omitempty"`

	// LimitUse lists the limits of the configuration that are set, with the share that the plan uses.
	LimitUse []LimitUse `json:"-"`
	// OmittedGoals counts the goals that a stored plan leaves out, by strategy. It is nil for a plan in memory.
	OmittedGoals []OmittedGoals `json:"-"`
	// Filtered is set for a part of another plan, which is only shown.
	Filtered *Filtered `json:"-"`
}

// ClusterInfo identifies the cluster of a plan.
type ClusterInfo struct {
	UID     string `json:"uid"`
	Version string `json:"version"`
}

// StrategyState counts the goals of a strategy in the state before the plan.
type StrategyState struct {
	Name string `json:"name"`
	// Mode says who decides about the moves of the strategy. It is empty for Automatic.
	Mode StrategyMode `json:"mode,omitempty"`
	// Goals is the number of goals that the strategy states, met or not.
	Goals int `json:"goals"`
	// Unmet is the number of goals with excess.
	Unmet int `json:"unmet"`
	// Due reports that this pass tries to meet the goals of the strategy, in the plan or in the
	// proposal of its mode. The plan only avoids worsening the goals of other strategies, and
	// ignores those in mode ShowOnly. Due is false for a strategy without goals.
	Due bool `json:"due"`
	// WaitingNodes is the number of nodes with an unmet goal for which the strategy waits. WaitReason says for
	// what, if the text is the same for all of these nodes.
	WaitingNodes int    `json:"waitingNodes,omitempty"`
	WaitReason   string `json:"waitReason,omitempty"`
	// NoData names the usage data that a strategy by load lacks. It is empty if the strategy has its data.
	NoData string `json:"noData,omitempty"`
	// NothingInScope names the selector of the strategy's own that selects nothing. It is empty if
	// each selects something.
	NothingInScope string `json:"nothingInScope,omitempty"`
	// NoViolation reports that the strategy states goals only about violations, and found none.
	NoViolation bool `json:"noViolation,omitempty"`
	// NoPodSelected names the podSelector of a strategy that states goals only about violations, if
	// it selects no pod. That is healthy if such pods exist only at times, and a mistake if the
	// selector is misspelled.
	NoPodSelected string `json:"noPodSelected,omitempty"`
	// Settings are the strategy's own scope, limits, guards, weight and softness. It is nil if none is set.
	Settings *StrategySettings `json:"settings,omitempty"`

	// NodesToEmpty is the number of Goals of the kind NodeEmpty. All of them are Unmet.
	NodesToEmpty int `json:"-"`
}

// PodGoals counts goals about single pods.
type PodGoals struct {
	Strategy string `json:"strategy"`
	// Unmet is the number of goals with excess before the plan, and UnmetAfter the number with excess after it.
	Unmet      int `json:"unmet"`
	UnmetAfter int `json:"unmetAfter"`
	// Listed is the number of these goals in Goals.
	Listed int `json:"listed"`
}

// OmittedGoals counts goals that a stored plan leaves out: those with excess before the plan, and those with excess
// after it.
type OmittedGoals struct {
	Strategy          string
	Unmet, UnmetAfter int
}

// UnlistedGoals returns the number of unmet goals that Goals does not list, before and after the plan.
func (p *Plan) UnlistedGoals() (before, after int) {
	for _, c := range p.OmittedGoals {
		before, after = before+c.Unmet, after+c.UnmetAfter
	}
	for _, c := range p.PodGoals {
		b, a := c.unlisted(p)
		before, after = before+b, after+a
	}
	return before, after
}

// unlisted returns the number of these goals that the plan does not list, before and after the plan.
func (c *PodGoals) unlisted(p *Plan) (before, after int) {
	after = c.UnmetAfter
	for i := range p.Goals {
		if g := &p.Goals[i]; g.Kind == PodAway && g.Strategy == c.Strategy && p.After.Excess[g.ID] > 0 {
			after--
		}
	}
	return c.Unmet - c.Listed, after
}

// Move is one pod to evict, with the predicted landing of its replacement.
type Move struct {
	Pod                PodRef     `json:"pod"`
	Owner              ObjectRef  `json:"owner"`
	Goals              []string   `json:"goals"`
	From               string     `json:"from"`
	To                 string     `json:"to"` // likeliest node
	Acceptable         Acceptable `json:"acceptable"`
	Confidence         float64    `json:"confidence"`
	ReturnProbability  float64    `json:"returnProbability"`
	PendingProbability float64    `json:"pendingProbability"`
	Strategy           string     `json:"strategy"`
	Step               int        `json:"step"` // from 1
	Wave               int        `json:"wave"` // from 1
	Steer              string     `json:"steer"`
	Reason             Reason     `json:"reason"`
	Benefit            float64    `json:"benefit"`
	Priority           int32      `json:"priority"` // of the pod
	// Removal is set for a pod that has ended: no replacement follows, and To is empty.
	Removal Removal `json:"removal,omitempty"`
	// RequestOnly is set if the operator of the pod moves it when it sees the request. The eviction then goes on in the
	// background, whatever a budget says.
	RequestOnly RequestOnly `json:"requestOnly,omitempty"`
	// Landing is LandingNotRequired for a move without a predicted place: To is empty, and the
	// replacement may stay Pending. Such moves are the last wave of a plan. Landing is empty for
	// all others.
	Landing LandingRule `json:"landing,omitempty"`
	// DisplacedFor is the pod that moves to From in a later wave, when this pod has left. Only the
	// later move contributes to the Goals. DisplacedFor is nil for a move that contributes to its
	// goals itself.
	DisplacedFor *PodRef `json:"displacedFor,omitempty"`

	// AcceptableNodes names the acceptable nodes. The evictor compares them with the node on
	// which the replacement was scheduled.
	AcceptableNodes []string `json:"-"`
	// NotAfter is the time at which a required window closes. It is zero if no window closes within a day.
	NotAfter time.Time `json:"-"`
	// EligibilityInputs records the labels, annotations and controller of the pod at planning time.
	// The evictor compares it to detect changes.
	EligibilityInputs string `json:"-"`
	// GracePeriodSeconds is the termination grace period of the evicted pod.
	GracePeriodSeconds int64 `json:"-"`
	// ReadyRequirements must hold right before the eviction. Without a PodDisruptionBudget, the API
	// server checks nothing.
	ReadyRequirements []ReadyRequirement `json:"-"`
}

// ReadyRequirement is a number of pods that must be Ready besides the evicted pod, in the same namespace.
type ReadyRequirement struct {
	Of       string // the workload or Service, for messages
	Selector string // a label selector; "" selects all pods
	// OwnerUIDs are the UIDs of the controllers of the pods. If it is empty, any pod that the selector selects counts.
	OwnerUIDs []string
	MinReady  int
	// MinReadyTime is the time for which a pod must have been Ready.
	MinReadyTime time.Duration
	Code         Code // of the outcome if fewer pods are Ready
}

// WaveHints lists the nodes that carry a hint from before the first eviction of a wave until its replacements are
// bound.
type WaveHints struct {
	Wave  int      `json:"wave"`
	Kind  string   `json:"kind"` // taint or label
	Nodes []string `json:"nodes"`
}

// HintsForWave returns the hints of a wave. If the wave has no hints, the list of nodes is empty.
func (p *Plan) HintsForWave(wave int) WaveHints {
	for _, h := range p.Hints {
		if h.Wave == wave {
			return h
		}
	}
	return WaveHints{Wave: wave}
}

// Steered reports whether the prediction of the move depends on the hints of its wave.
func (m Move) Steered() bool { return m.Steer != "" && m.Steer != "none" }

// Acceptable counts the nodes on which a replacement lets its move contribute to its goals.
type Acceptable struct {
	Nodes int `json:"nodes"`
}

// Rejections counts the pods that are not moved by reason code. It contains the first pods of each code.
type Rejections struct {
	Counts  map[Code]int `json:"counts"`
	Samples []Rejection  `json:"samples"`
}

// Rejection is a pod that is not moved, with the reason.
type Rejection struct {
	Pod      PodRef `json:"pod"`
	Node     string `json:"node,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	Reason   Reason `json:"reason"`
}

// Bound is the proven lower bound on evictions, with the reasons for the goals that stay unmet.
type Bound struct {
	// MinEvictions is a lower bound on the evictions that meet every goal that permitted evictions can meet.
	MinEvictions int `json:"minEvictions"`
	// MinForPlan is a lower bound on the evictions for the result of this plan.
	MinForPlan int `json:"minForPlan"`
	// Residual is the share of excess that no permitted eviction removes, times the weight, summed over goals.
	Residual float64 `json:"residual"`
	// ResidualByGoal is the excess that no permitted eviction removes, by goal ID and in the unit of the goal.
	ResidualByGoal map[string]float64 `json:"residualByGoal"`
	BlockedBy      []Blocker          `json:"blockedBy"`
	// Unmet is the excess beyond Residual that no single further eviction removes: the share of each goal times its
	// weight, summed over goals. UnmetGoals gives the reason for each goal.
	Unmet      float64     `json:"unmet,omitempty"`
	UnmetGoals []UnmetGoal `json:"unmetGoals,omitempty"`
}

// UnmetReason is the reason why excess remains that permitted evictions may still be able to remove.
type UnmetReason string

const (
	// UnmetByScheduler means that a node would help the goal, but the scheduler would more likely
	// place the replacement on another node.
	UnmetByScheduler UnmetReason = "scheduler"
	// UnmetNoTarget means that pods may leave, but each possible target node would worsen another goal.
	UnmetNoTarget UnmetReason = "noTarget"
	// UnmetBenefitTooSmall means that the excess is too small to justify an eviction.
	UnmetBenefitTooSmall UnmetReason = "benefitTooSmall"
	// UnmetByGuards means that guards and budgets forbid every eviction that would help.
	UnmetByGuards UnmetReason = "guards"
)

// UnmetGoal is excess that no single further eviction lowers after the plan. A different plan may lower the excess.
type UnmetGoal struct {
	Goal   string      `json:"goal"`
	Reason UnmetReason `json:"reason"`
	// Excess is in the unit of the goal. It does not include Bound.ResidualByGoal.
	Excess float64 `json:"excess"`
	// Rejections counts the pods whose eviction could help the goal, by the reason why each pod stays.
	Rejections map[Code]int `json:"rejections"`
	Detail     string       `json:"detail"`
}

// Blocker names a reason why excess remains.
type Blocker struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

// Input describes a source of data and its state.
type Input struct {
	Source string `json:"source"`
	// Statistic describes the values of a usage source, such as "p90 over 5m".
	Statistic string   `json:"statistic,omitempty"`
	Age       string   `json:"age"`
	Coverage  float64  `json:"coverage"`
	Problems  []string `json:"problems"`
}

// State summarises the cluster before or after the plan.
type State struct {
	Nodes       []NodeState             `json:"nodes"`
	Utilization map[string]Distribution `json:"utilization"` // by requests
	// Used is measured usage over the nodes with known usage. It is absent if no node has known usage.
	Used      map[string]Distribution `json:"used,omitempty"`
	Excess    map[string]float64      `json:"excess"` // by goal id
	Workloads []WorkloadState         `json:"workloads"`

	// Balance is nil if it is unknown.
	Balance *Balance `json:"-"`
}

// NodeState is the requested and used share of a node's allocatable, as fractions 0..1.
type NodeState struct {
	Name      string             `json:"name"`
	Zone      string             `json:"zone"`
	Requested map[string]float64 `json:"requested"`
	Used      map[string]float64 `json:"used,omitempty"`
}

// Distribution summarises a resource over all nodes. Mean is the total use divided by the total allocatable.
type Distribution struct {
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"`
}

// WorkloadState is the distribution of a workload over zones. FailureCategory is the effect of losing its worst zone,
// from 1 (complete loss) to 4 (minor); see docs/reference/impact.md.
type WorkloadState struct {
	Namespace       string         `json:"namespace"`
	Kind            string         `json:"kind"`
	Name            string         `json:"name"`
	Zones           map[string]int `json:"zones"`
	Skew            int            `json:"skew"`
	FailureCategory int            `json:"failureCategory"`
	CategoryCertain bool           `json:"categoryCertain"`
}
