package plan

import "time"

// Plan is what the planner answers to goals: the moves in order, everything it
// refused with the reason, and the state before and after.
type Plan struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // "Plan"
	ID         string    `json:"id"`   // content hash, see Seal
	TakenAt    time.Time `json:"takenAt"`
	// TakenAtEstimated: nothing says when the state was read; TakenAt is the newest
	// time in it.
	TakenAtEstimated bool        `json:"takenAtEstimated,omitempty"`
	Expires          time.Time   `json:"expires"`
	Cluster          ClusterInfo `json:"cluster"`
	ConfigHash       string      `json:"configHash"`
	Moves            []Move      `json:"moves"`
	// Hints are the hints on nodes that steer the scheduler, by wave; waves
	// without are left out.
	Hints []WaveHints `json:"hints,omitempty"`
	// Pressure are the hints on nodes under pressure, by node.
	Pressure   []PressureHint `json:"pressure,omitempty"`
	Rejections Rejections     `json:"rejections"`
	Goals      []Goal         `json:"goals"` // those with excess before
	// Strategies are all that are enabled, in the order of the configuration.
	Strategies []StrategyState `json:"strategies"`
	// HintsNoData says why no rule of pressure hints could judge any node; empty where
	// one could, or there are none.
	HintsNoData string `json:"hintsNoData,omitempty"`
	// Schedulers are those without a profile of which there are pods or counts, by
	// name.
	Schedulers []SchedulerState `json:"schedulers,omitempty"`
	Before     State            `json:"before"`
	After      State            `json:"after"`
	Bound      Bound            `json:"bound"`
	Inputs     []Input          `json:"inputs"`
	// Blocks say why moves are not carried out although they are planned, or not
	// planned although a strategy is due.
	Blocks []EvictionBlock `json:"blocks,omitempty"`
	// SearchLimitReached says why the search ended before it had tried everything; empty: it
	// did not.
	SearchLimitReached string `json:"searchLimitReached,omitempty"`
	// NotEnforced lists default limits of the config that this version does
	// not enforce yet, by field path.
	NotEnforced []string `json:"notEnforced,omitempty"`
}

// ClusterInfo says which cluster a plan was made for.
type ClusterInfo struct {
	UID     string `json:"uid"`
	Version string `json:"version"`
}

// StrategyState counts what a strategy wants of the state as it was.
type StrategyState struct {
	Name string `json:"name"`
	// Goals it states, met or not.
	Goals int `json:"goals"`
	// Unmet are those with excess.
	Unmet int `json:"unmet"`
	// Due: its goals are asked for in this pass. Those of others are only
	// not to be worsened. False where it states none.
	Due bool `json:"due"`
	// WaitingNodes counts the nodes for which nothing is moved yet although a goal of
	// theirs is not met: that has to be seen for longer. Waits says how long, as far
	// as it is the same for all of them.
	WaitingNodes int    `json:"waitingNodes,omitempty"`
	WaitReason   string `json:"waitReason,omitempty"`
	// NoData says of a strategy by load why it states no goal: what is not known.
	// Empty otherwise.
	NoData string `json:"noData,omitempty"`
}

// Move is one pod to evict, and where its replacement is predicted to land.
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
	Cost               float64    `json:"cost"`
	// DisplacedFor is a pod that moves to From in a later wave, once this one has left
	// it. It is that move that serves the Goals; this one serves none by itself, and is
	// in vain without the other. Nil for moves that serve their goals themselves.
	DisplacedFor *PodRef `json:"displacedFor,omitempty"`

	// AcceptableNodes names the acceptable nodes, for verification.
	AcceptableNodes []string `json:"-"`
	// NotAfter is when a window closes that must be open; zero when none does
	// within a day.
	NotAfter time.Time `json:"-"`
	// EligibilityInputs is what was read of the pod's own labels, requests and controller
	// (annotation.EligibilityInputs), to see whether it has changed since.
	EligibilityInputs string `json:"-"`
	// GracePeriodSeconds is the victim's own grace period.
	GracePeriodSeconds int64 `json:"-"`
}

// WaveHints are the nodes that carry a hint while a wave is carried out: from
// before its first eviction until its replacements are bound.
type WaveHints struct {
	Wave  int      `json:"wave"`
	Kind  string   `json:"kind"` // taint or label
	Nodes []string `json:"nodes"`
}

// HintsForWave returns the hints of a wave; its nodes are empty when there are none.
func (p *Plan) HintsForWave(wave int) WaveHints {
	for _, h := range p.Hints {
		if h.Wave == wave {
			return h
		}
	}
	return WaveHints{Wave: wave}
}

// Steered reports whether the move needs the hints of its wave.
func (m Move) Steered() bool { return m.Steer != "" && m.Steer != "none" }

// Acceptable counts the nodes on which the goals of a move are still served.
type Acceptable struct {
	Nodes int `json:"nodes"`
}

// Rejections are the refusals: a count per code and the first samples of each.
type Rejections struct {
	Counts  map[Code]int `json:"counts"`
	Samples []Rejection  `json:"samples"`
}

// Rejection says why one pod is not moved.
type Rejection struct {
	Pod      PodRef `json:"pod"`
	Node     string `json:"node,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	Reason   Reason `json:"reason"`
}

// Bound is what is proven about any plan, with what blocks this one.
type Bound struct {
	// MinEvictions is the fewest evictions that bring every goal as near as
	// permitted evictions can.
	MinEvictions int `json:"minEvictions"`
	// MinForPlan is the fewest that bring every goal as near as this plan does.
	MinForPlan int `json:"minForPlan"`
	// Residual sums, over goals, the share of the excess that no permitted
	// eviction removes, times the weight.
	Residual float64 `json:"residual"`
	// ResidualByGoal is that excess in the unit of each goal, by goal id.
	ResidualByGoal map[string]float64 `json:"residualByGoal"`
	BlockedBy      []Blocker          `json:"blockedBy"`
	// Unmet sums, over goals, the share of the excess beyond Residual that no single
	// further eviction removes as this plan leaves things, times the weight. HeldBy says
	// why, by goal.
	Unmet      float64     `json:"unmet,omitempty"`
	UnmetGoals []UnmetGoal `json:"unmetGoals,omitempty"`
}

// UnmetReason says what holds excess that nothing proves to be out of reach.
type UnmetReason string

const (
	// UnmetByScheduler: a pod has a place that would serve the goal, and the scheduler
	// would likelier put its replacement somewhere else.
	UnmetByScheduler UnmetReason = "scheduler"
	// UnmetNoTarget: pods may leave, and no node takes one without making another goal
	// worse.
	UnmetNoTarget UnmetReason = "noTarget"
	// UnmetBenefitTooSmall: what is too much is so little that no eviction is worth it.
	UnmetBenefitTooSmall UnmetReason = "benefitTooSmall"
	// UnmetByGuards: guards and budgets let none of the pods go that would help.
	UnmetByGuards UnmetReason = "guards"
)

// UnmetGoal is excess of a goal that no single further eviction lowers as the plan leaves
// the cluster, though nothing proves that no plan could.
type UnmetGoal struct {
	Goal   string      `json:"goal"`
	Reason UnmetReason `json:"reason"`
	// Excess is in the unit of the goal, beyond what Bound.ResidualByGoal says.
	Excess float64 `json:"excess"`
	// Rejections count the pods that could serve the goal, by why each stays.
	Rejections map[Code]int `json:"rejections"`
	Detail     string       `json:"detail"`
}

// Blocker names what keeps excess in place.
type Blocker struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

// Input describes one source of data and its state.
type Input struct {
	Source string `json:"source"`
	// Statistic says of a source of load what its figures are: "p90 over 5m".
	Statistic string   `json:"statistic,omitempty"`
	Age       string   `json:"age"`
	Coverage  float64  `json:"coverage"`
	Problems  []string `json:"problems"`
}

// State is the cluster before or after the plan, as far as goals look at it.
type State struct {
	Nodes       []NodeState             `json:"nodes"`
	Utilization map[string]Distribution `json:"utilization"` // by requests
	// Used is by load, over the nodes of which it is known; absent when of none.
	Used      map[string]Distribution `json:"used,omitempty"`
	Excess    map[string]float64      `json:"excess"` // by goal id
	Workloads []WorkloadState         `json:"workloads"`
}

// NodeState is one node's requested and used fractions of allocatable.
type NodeState struct {
	Name      string             `json:"name"`
	Zone      string             `json:"zone"`
	Requested map[string]float64 `json:"requested"`
	Used      map[string]float64 `json:"used,omitempty"`
}

// Distribution summarises a resource over nodes; mean is total used over total
// allocatable.
type Distribution struct {
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"`
}

// WorkloadState is one workload by zone, with the category it would be in if
// its worst zone failed (1 complete loss .. 4 minor; docs/reference/impact.md).
type WorkloadState struct {
	Namespace       string         `json:"namespace"`
	Kind            string         `json:"kind"`
	Name            string         `json:"name"`
	Zones           map[string]int `json:"zones"`
	Skew            int            `json:"skew"`
	FailureCategory int            `json:"failureCategory"`
	CategoryCertain bool           `json:"categoryCertain"`
}
