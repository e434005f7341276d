package config

import (
	"encoding/json"
	"time"

	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// Config is config.yaml. docs/reference/config.md describes every key.
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

	// check sets these fields.
	scheduled         []ScheduledStrategy
	windows           cron.Windows
	placementProfiles map[string]scheduler.Profile // by schedulerName
	pressureRules     []pressure.Rule              // from hints.rules and hints.rulesFile
	referencedFiles   []string                     // paths of the files that the configuration names
	fileDigests       []string                     // digests of the contents of these files
	secretFiles       []secretFile                 // of the source of usage
}

// Namespaces select the namespaces in scope.
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
	Args     json.RawMessage `json:"args,omitempty"`
}

// Impact sets the limit for failure categories: the utilization of the surviving nodes, as a fraction of allocatable.
type Impact struct {
	UtilizationLimit float64 `json:"utilizationLimit"`
}

// Guards say which pods Evenkeel must not evict.
type Guards struct {
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

// Limits bound the evictions of one pass and of one hour, and the work of planning.
type Limits struct {
	PerPass      plan.CountLimit `json:"perPass"`
	PerNode      plan.CountLimit `json:"perNode"`
	PerNamespace plan.CountLimit `json:"perNamespace"`
	PerOwner     plan.CountLimit `json:"perOwner"`
	PerZone      plan.CountLimit `json:"perZone"`
	PerHour      PerHour         `json:"perHour"`
	// MaxPredictions bounds the predictions for one plan: a number or unlimited. A plan asks for one prediction each time
	// that it needs to know where one replacement would land.
	MaxPredictions plan.CountLimit `json:"maxPredictions"`
}

// PerHour bounds the evictions of the last hour.
type PerHour struct {
	Owner     plan.CountLimit `json:"owner"`
	Namespace plan.CountLimit `json:"namespace"`
	Cluster   plan.CountLimit `json:"cluster"`
}

// Windows say when Evenkeel may evict.
type Windows struct {
	Allow []Window `json:"allow"`
	Deny  []Window `json:"deny"`
}

// Window is a period that opens on a schedule and stays open for Duration.
type Window struct {
	Schedule string   `json:"schedule"`
	Duration Duration `json:"duration"`
	TimeZone string   `json:"timeZone,omitempty"`
}

// Evictor says how Evenkeel executes evictions.
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

// InFlight bounds the evicted pods whose replacements are not ready yet.
type InFlight struct {
	Total    plan.CountLimit `json:"total"`
	PerNode  plan.CountLimit `json:"perNode"`
	PerOwner plan.CountLimit `json:"perOwner"`
}

// Backoff is how long Evenkeel leaves a workload alone after a bad landing: Initial, and twice as long each time, up to
// Max.
type Backoff struct {
	Initial Duration `json:"initial"`
	Max     Duration `json:"max"`
}

// Breaker says what stops a pass, and for how long the breaker then prevents further passes.
type Breaker struct {
	MaxUnreadyNodesFrac float64         `json:"maxUnreadyNodesFrac"`
	MaxPendingPods      plan.CountLimit `json:"maxPendingPods"`
	MaxFailedFrac       float64         `json:"maxFailedFrac"`
	MaxBadLandingsFrac  float64         `json:"maxBadLandingsFrac"`
	Hold                Duration        `json:"hold"`
}

// Benefit says when Evenkeel suspends a strategy whose evictions do not help enough.
type Benefit struct {
	Floor        float64  `json:"floor"`
	MinEvictions int      `json:"minEvictions"`
	Hold         Duration `json:"hold"`
}

// Sources of usage. SourceRequests means that Evenkeel does not measure usage.
const (
	SourceRequests      = "requests"
	SourceMetricsServer = "metricsServer"
	SourcePrometheus    = "prometheus"
	SourceLoadWatcher   = "loadWatcher"
)

// LoadSource says where Evenkeel reads the usage of nodes and pods.
type LoadSource struct {
	Source string `json:"source"`
	// Interval is the time between two samples.
	Interval      Duration      `json:"interval"`
	Statistic     string        `json:"statistic"`
	Window        Duration      `json:"window"`
	MaxAge        Duration      `json:"maxAge"`
	MinCoverage   float64       `json:"minCoverage"`
	MetricsServer MetricsServer `json:"metricsServer"`
	Prometheus    Prometheus    `json:"prometheus"`
	LoadWatcher   LoadWatcher   `json:"loadWatcher"`
}

// MetricsServer reads the metrics API of the cluster.
type MetricsServer struct {
	Timeout Duration `json:"timeout"`
}

// Prometheus reads usage by PromQL queries.
type Prometheus struct {
	URL    string `json:"url"`
	Preset string `json:"preset"`
	// RateWindow is the range over which the queries of the preset compute rates.
	RateWindow Duration `json:"rateWindow"`
	// Queries return the usage of nodes, by resource. They replace the query of the preset, or add one.
	Queries map[string]string `json:"queries"`
	// PodQueries return the usage of pods, for cpu and memory. An empty query means that it is not measured.
	PodQueries map[string]string `json:"podQueries"`
	// Freshness queries return when a node was measured, by the resource of the query for which they say so.
	Freshness          map[string]string `json:"freshness"`
	NodeLabel          string            `json:"nodeLabel"`
	Timeout            Duration          `json:"timeout"`
	TokenFile          string            `json:"tokenFile"`
	CAFile             string            `json:"caFile"`
	CertFile           string            `json:"certFile"`
	KeyFile            string            `json:"keyFile"`
	InsecureSkipVerify bool              `json:"insecureSkipVerify"`
}

// LoadWatcher reads usage from a load-watcher.
type LoadWatcher struct {
	URL       string   `json:"url"`
	Timeout   Duration `json:"timeout"`
	TokenFile string   `json:"tokenFile"`
	CAFile    string   `json:"caFile"`
}

// Hints say when Evenkeel labels or taints nodes under pressure.
type Hints struct {
	Enabled       bool      `json:"enabled"`
	Label         HintLabel `json:"label"`
	Taint         HintTaint `json:"taint"`
	MaxHintedFrac float64   `json:"maxHintedFrac"`
	TTL           Duration  `json:"ttl"`
	// SkipTaints are keys of taints. A node with such a taint gets no hint if the taint keeps pods off.
	SkipTaints []string `json:"skipTaints"`
	// For and ClearMargin are defaults for rules. For is the number of consecutive samples. ClearMargin is how far the value
	// must fall back inside the level before the hint goes, as a fraction of the level.
	For         int        `json:"for"`
	ClearMargin float64    `json:"clearMargin"`
	Rules       []HintRule `json:"rules"`
	// RulesFile is the path of a file with more rules, in the format of dynamicScheduler's rule.yaml.
	RulesFile string `json:"rulesFile"`
}

// HintLabel is the label of a hinted node. An empty key means no label.
type HintLabel struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// HintTaint is the taint of a hinted node.
type HintTaint struct {
	Enabled bool   `json:"enabled"`
	Key     string `json:"key"`
}

// HintRule says when a node is under pressure.
type HintRule struct {
	Name       string   `json:"name"`
	Resource   string   `json:"resource,omitempty"`
	PromQL     string   `json:"promql,omitempty"`
	Above      *float64 `json:"above,omitempty"`
	Below      *float64 `json:"below,omitempty"`
	ClearAbove *float64 `json:"clearAbove,omitempty"`
	ClearBelow *float64 `json:"clearBelow,omitempty"`
	For        int      `json:"for,omitempty"`
}

// Placement describes the schedulers of the cluster.
type Placement struct {
	SchedulerConfig string             `json:"schedulerConfig"`
	Profiles        []PlacementProfile `json:"profiles"`
	Trust           SchedulerTrust     `json:"trust"`
}

// SchedulerTrust says when Evenkeel treats a scheduler without a profile as the default scheduler: after MinBindings
// predicted bindings, if a share of at least MinHitRate was right.
type SchedulerTrust struct {
	MinBindings int     `json:"minBindings"`
	MinHitRate  float64 `json:"minHitRate"`
}

// PlacementProfile describes one scheduler that the file of schedulerConfig does not contain.
type PlacementProfile struct {
	SchedulerName     string             `json:"schedulerName"`
	Score             string             `json:"score"`
	Weights           map[string]int     `json:"weights,omitempty"`
	TargetLoadPacking *TargetLoadPacking `json:"targetLoadPacking,omitempty"`
	Policy            string             `json:"policy,omitempty"`
}

// TargetLoadPacking are the arguments of the score of that name. A nil field means the default of the score.
type TargetLoadPacking struct {
	TargetUtilization *float64 `json:"targetUtilization"`
	DefaultMilliCPU   *int     `json:"defaultMilliCPU"`
	RequestFactor     *float64 `json:"requestFactor"`
}

// Web says what Evenkeel serves besides health and metrics.
type Web struct {
	// Watcher serves the usage of nodes through the API of a load-watcher.
	Watcher bool `json:"watcher"`
}

// secretFile is a file with credentials for the source of usage.
type secretFile struct {
	position string // FILE:LINE: KEY of the key that names it
	path     string
}

// Duration is a duration that YAML writes as 90s, 5m or 1h30m.
type Duration time.Duration

// String returns the duration as YAML writes it, without zeros at the end: 5m instead of 5m0s.
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

// ScheduledStrategy is a strategy with its schedule.
type ScheduledStrategy struct {
	Name     string
	Strategy strategies.Strategy
	Schedule cron.Schedule
}
