package config

import (
	"encoding/json"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Strategy is one strategy with its schedule.
type Strategy struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Schedule string `json:"schedule"`
	TimeZone string `json:"timeZone,omitempty"`
	// Mode is automatic (the default), approve or dryRun.
	Mode plan.StrategyMode `json:"mode,omitempty"`
	// Jitter delays each run by less than this time.
	Jitter Duration `json:"jitter,omitempty"`
	// Missed says what follows firings that came while a pass ran or while no process led: MissedSkip or MissedOnce.
	Missed string          `json:"missed,omitempty"`
	On     *NodeEvents     `json:"on,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	// NodeSelector, Namespaces and PodSelector narrow the global scope for this strategy.
	NodeSelector string               `json:"nodeSelector,omitempty"`
	Namespaces   *plan.NamespaceScope `json:"namespaces,omitempty"`
	PodSelector  string               `json:"podSelector,omitempty"`
	// Limits apply to the moves for this strategy, in addition to the global limits.
	Limits *plan.OwnLimits `json:"limits,omitempty"`
	Guards *StrategyGuards `json:"guards,omitempty"`
	// Weight multiplies the weight of the goals. Nil means 1.
	Weight *float64 `json:"weight,omitempty"`
	// Soft makes moves for this strategy never worsen a goal of a strategy that is not soft. Its
	// goals do not limit moves for other strategies.
	Soft bool `json:"soft,omitempty"`
	// Landing replaces guards.landing for this strategy. Empty means guards.landing.
	Landing plan.LandingRule `json:"landing,omitempty"`
}

// StrategyGuards are guards of one strategy. They hold besides the global guards, and must not be looser. Nil and empty
// values are not set.
type StrategyGuards struct {
	MinConfidence            *float64  `json:"minConfidence,omitempty"`
	MinReplicas              *int      `json:"minReplicas,omitempty"`
	MinPodAge                *Duration `json:"minPodAge,omitempty"`
	MaxGracePeriod           *Duration `json:"maxGracePeriod,omitempty"`
	PriorityBelow            string    `json:"priorityBelow,omitempty"`
	MaxUnavailableWithoutPDB *int      `json:"maxUnavailableWithoutPDB,omitempty"`
	Protect                  []string  `json:"protect,omitempty"`
	ProtectedStorageClasses  []string  `json:"protectedStorageClasses,omitempty"`
}

// Values of Strategy.Missed. The default is MissedSkip.
const (
	MissedSkip = "skip"
	MissedOnce = "once"
)

// NodeEvents says how long after an event a strategy runs, and the least time between two such runs.
type NodeEvents struct {
	NodeAdded Duration `json:"nodeAdded,omitempty"`
	NodeReady Duration `json:"nodeReady,omitempty"`
	Every     Duration `json:"every,omitempty"`
}
