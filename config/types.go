package config

import (
	"encoding/json"
	"time"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Config is config.yaml. docs/reference/config.md describes every key. The tag
// built:"no" marks keys whose feature this version does not have: they are read
// and checked, and must stay at their defaults.
type Config struct {
	APIVersion   string     `json:"apiVersion"`
	Kind         string     `json:"kind"`
	DryRun       bool       `json:"dryRun"`
	TimeZone     string     `json:"timeZone"`
	NodeSelector string     `json:"nodeSelector"`
	Namespaces   Namespaces `json:"namespaces"`
	Load         LoadSource `json:"load"`
	Hints        Hints      `json:"hints"`
	Strategies   []Strategy `json:"strategies"`
	Impact       Impact     `json:"impact"`
	Guards       Guards     `json:"guards"`
	Limits       Limits     `json:"limits"`
	Windows      Windows    `json:"windows"`
	Evictor      Evictor    `json:"evictor"`
	Benefit      Benefit    `json:"benefit"`
	Placement    Placement  `json:"placement"`
	Web          Web        `json:"web"`

	placementProfiles map[string]scheduler.Profile // by schedulerName
	pressureRules     []pressure.Rule              // of hints
	fileDigests       []string                     // digests of the files that are named
	referencedFiles   []string                     // their paths
	secretFiles       []secretFile                 // of the source of usage
}

// Namespaces are those in scope.
type Namespaces struct {
	Include  []string `json:"include"`
	Exclude  []string `json:"exclude"`
	Selector string   `json:"selector"`
}

// Strategy is one strategy with its schedule. Args are JSON.
type Strategy struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Schedule string          `json:"schedule"`
	TimeZone string          `json:"timeZone,omitempty"`
	Jitter   Duration        `json:"jitter,omitempty" built:"no"`
	Missed   string          `json:"missed,omitempty" built:"no"`
	Args     json.RawMessage `json:"args,omitempty"`
}

// Impact sets failure categories.
type Impact struct {
	UtilizationLimit float64 `json:"utilizationLimit"`
}

// Guards say which pods stay.
type Guards struct {
	Landing                  string   `json:"landing" built:"no"`
	MinConfidence            float64  `json:"minConfidence"`
	MinReplicas              int      `json:"minReplicas"`
	MinPodAge                Duration `json:"minPodAge"`
	SchedulerTimeout         Duration `json:"schedulerTimeout"`
	MaxStaleness             Duration `json:"maxStaleness"`
	PriorityBelow            string   `json:"priorityBelow"`
	MaxUnavailableWithoutPDB int      `json:"maxUnavailableWithoutPDB"`
	Protect                  []string `json:"protect"`
	ProtectedStorageClasses  []string `json:"protectedStorageClasses"`
	PodSelector              string   `json:"podSelector"`
	Controllers              []string `json:"controllers"`
	NoEvictionPolicy         string   `json:"noEvictionPolicy"`
}

// Limits bound one pass, and one hour.
type Limits struct {
	PerPass      plan.CountLimit `json:"perPass"`
	PerNode      plan.CountLimit `json:"perNode"`
	PerNamespace plan.CountLimit `json:"perNamespace"`
	PerOwner     plan.CountLimit `json:"perOwner"`
	PerZone      plan.CountLimit `json:"perZone"`
	PerHour      PerHour         `json:"perHour"`
	// MaxPredictions is how many landings a plan may foretell; a number or unlimited.
	MaxPredictions plan.CountLimit `json:"maxPredictions"`
}

// PerHour bounds evictions over the last hour.
type PerHour struct {
	Owner     plan.CountLimit `json:"owner"`
	Namespace plan.CountLimit `json:"namespace"`
	Cluster   plan.CountLimit `json:"cluster"`
}

// Windows say when evictions are allowed.
type Windows struct {
	Allow []Window `json:"allow"`
	Deny  []Window `json:"deny"`
}

// Window is a span of time that comes again and again.
type Window struct {
	Schedule string   `json:"schedule"`
	Duration Duration `json:"duration"`
	TimeZone string   `json:"timeZone,omitempty"`
}

// Evictor says how evictions are carried out.
type Evictor struct {
	GracePeriodSeconds *int64          `json:"gracePeriodSeconds"`
	PerMinute          plan.CountLimit `json:"perMinute"`
	InFlight           InFlight        `json:"inFlight"`
	VerifyTimeout      Duration        `json:"verifyTimeout"`
	Steer              string          `json:"steer"`
	SteerMaxFrac       float64         `json:"steerMaxFrac"`
	SteerTTL           Duration        `json:"steerTTL"`
	Backoff            Backoff         `json:"backoff"`
	Breaker            Breaker         `json:"breaker"`
}

// InFlight bounds the pods that are away at once.
type InFlight struct {
	Total    plan.CountLimit `json:"total"`
	PerNode  plan.CountLimit `json:"perNode"`
	PerOwner plan.CountLimit `json:"perOwner"`
}

// Backoff is how long a workload rests after a bad landing.
type Backoff struct {
	Initial Duration `json:"initial"`
	Max     Duration `json:"max"`
}

// Breaker is what stops a pass, and holds the next.
type Breaker struct {
	MaxUnreadyNodesFrac float64         `json:"maxUnreadyNodesFrac"`
	MaxPendingPods      plan.CountLimit `json:"maxPendingPods"`
	MaxFailedFrac       float64         `json:"maxFailedFrac"`
	MaxBadLandingsFrac  float64         `json:"maxBadLandingsFrac"`
	Hold                Duration        `json:"hold"`
}

// Benefit says when a strategy is held because it does not pay off.
type Benefit struct {
	Floor        float64  `json:"floor"`
	MinEvictions int      `json:"minEvictions"`
	Hold         Duration `json:"hold"`
}

// Duration is written as 90s, 5m or 1h30m.
type Duration time.Duration

// String writes the form that is read, without needless zeros.
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, cut := range [...]string{"m0s", "h0m"} {
		if len(s) > len(cut) && s[len(s)-len(cut):] == cut {
			s = s[:len(s)-2]
		}
	}
	return s
}

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }
