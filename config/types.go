package config

import (
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Config is the content of config.yaml; docs/reference/config.md describes every key.
type Config struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	DryRun       bool   `json:"dryRun"`
	TimeZone     string `json:"timeZone"`
	NodeSelector string `json:"nodeSelector"`
	// VirtualNodeSelector selects virtual nodes that Evenkeel does not recognize itself.
	VirtualNodeSelector string     `json:"virtualNodeSelector"`
	Namespaces          Namespaces `json:"namespaces"`
	// TrustedNamespaces lists the namespaces whose annotations may do more than protect pods (cluster.Scope.Trusted).
	TrustedNamespaces []string   `json:"trustedNamespaces,omitempty"`
	Load              LoadSource `json:"load"`
	Hints             Hints      `json:"hints"`
	// Preset names the presets whose strategies the file extends. Strategies has them, too.
	Preset     Presets    `json:"preset"`
	Strategies Strategies `json:"strategies"`
	Impact     Impact     `json:"impact"`
	Guards     Guards     `json:"guards"`
	Limits     Limits     `json:"limits"`
	Windows    Windows    `json:"windows"`
	Evictor    Evictor    `json:"evictor"`
	Placement  Placement  `json:"placement"`
	Approvals  Approvals  `json:"approvals"`
	History    History    `json:"history,omitzero"`
	// Notify lists the receivers of notifications.
	Notify []NotifyReceiver `json:"notify,omitempty"`

	// check sets these fields.
	scheduled           []schedule.Strategy
	windows             cron.Windows
	placementProfiles   map[string]scheduler.Profile // by schedulerName
	skipReferencedFiles bool                         // the files to which the configuration refers are not read
	nodeMarks           []nodemarks.Mark
	pressureRules       []pressure.Rule                   // from hints.rules and hints.rulesFile
	readFile            func(path string) ([]byte, error) // nil reads files of this machine
	referencedFiles     []string                          // paths of the files that the configuration names
	fileDigests         []string                          // digests of the contents of these files
	text                string                            // see Text
	secretFiles         []secretFile                      // of the source of usage and of notify
}

// Namespaces select the namespaces in scope. Include and Exclude have names and prefixes with an asterisk.
type Namespaces struct {
	Include  []string `json:"include"`
	Exclude  []string `json:"exclude"`
	Selector string   `json:"selector"`
}

// Impact bounds the utilization of nodes that survive a failure, as a fraction of allocatable.
type Impact struct {
	UtilizationLimit float64 `json:"utilizationLimit"`
}

// Guards configure which pods Evenkeel must not evict.
type Guards struct {
	MinConfidence            float64       `json:"minConfidence"`
	MinReplicas              int           `json:"minReplicas"`
	MinPodAge                Duration      `json:"minPodAge"`
	MaxGracePeriod           Duration      `json:"maxGracePeriod"`
	PriorityBelow            string        `json:"priorityBelow"`
	MaxUnavailableWithoutPDB int           `json:"maxUnavailableWithoutPDB"`
	Protect                  []string      `json:"protect"`
	SafeLocalVolumes         []string      `json:"safeLocalVolumes"`
	ProtectedStorageClasses  []string      `json:"protectedStorageClasses"`
	PodSelector              string        `json:"podSelector"`
	Controllers              []string      `json:"controllers"`
	Groups                   []string      `json:"groups"`
	GroupKeys                []string      `json:"groupKeys"`
	BlockingPods             []PodSelector `json:"blockingPods"`
	NoEvictionPolicy         string        `json:"noEvictionPolicy"`
	// DisplaceAcrossNamespaces allows that a pod leaves to make room for a pod of another namespace.
	DisplaceAcrossNamespaces bool `json:"displaceAcrossNamespaces"`
}

// PodSelector selects the pods of a namespace by their labels.
type PodSelector struct {
	Selector  string `json:"selector"`
	Namespace string `json:"namespace"`
}

// Limits bound the evictions of one pass and of one hour, and the cost of planning.
type Limits struct {
	PerPass      plan.CountLimit `json:"perPass"`
	PerNode      plan.CountLimit `json:"perNode"`
	PerNamespace plan.CountLimit `json:"perNamespace"`
	PerOwner     plan.CountLimit `json:"perOwner"`
	PerZone      plan.CountLimit `json:"perZone"`
	PerHour      PerHour         `json:"perHour"`
	// MaxPredictions bounds how many placements the planner predicts for one plan.
	MaxPredictions plan.CountLimit `json:"maxPredictions"`
	// MaxPlanTime bounds the time in which strategies and planner make one plan.
	MaxPlanTime Duration `json:"maxPlanTime"`
}

// PerHour bounds the evictions within the last hour.
type PerHour struct {
	Owner     plan.CountLimit `json:"owner"`
	Namespace plan.CountLimit `json:"namespace"`
	Cluster   plan.CountLimit `json:"cluster"`
}

// Windows configure when Evenkeel may evict.
type Windows struct {
	Allow []AllowWindow `json:"allow"`
	Deny  []Window      `json:"deny"`
}

// Window is a period that opens on a schedule and stays open for Duration.
type Window struct {
	Schedule string   `json:"schedule"`
	Duration Duration `json:"duration"`
	TimeZone string   `json:"timeZone,omitempty"`
}

// AllowWindow is a Window in which Evenkeel may evict.
type AllowWindow struct {
	Schedule string   `json:"schedule"`
	Duration Duration `json:"duration"`
	TimeZone string   `json:"timeZone,omitempty"`
	// Limits apply while only windows with limits are open; nil for none.
	Limits *plan.OwnLimits `json:"limits,omitempty"`
}

// Evictor configures how Evenkeel executes evictions.
type Evictor struct {
	GracePeriodSeconds *int64          `json:"gracePeriodSeconds"`
	PerMinute          plan.CountLimit `json:"perMinute"`
	InFlight           InFlight        `json:"inFlight"`
	VerifyTimeout      Duration        `json:"verifyTimeout"`
	Steer              string          `json:"steer"`
	// Backoff is how long Evenkeel does not touch a workload after a bad landing. Each further one takes twice as long.
	Backoff Duration `json:"backoff"`
	// BackgroundTimeout is how long another program, such as KubeVirt, may take to execute an accepted eviction. After
	// it, the eviction counts as failed.
	BackgroundTimeout Duration `json:"backgroundTimeout"`
	Breaker           Breaker  `json:"breaker"`
}

// InFlight bounds the number of evicted pods whose replacements are not ready yet.
type InFlight struct {
	Total    plan.CountLimit `json:"total"`
	PerNode  plan.CountLimit `json:"perNode"`
	PerOwner plan.CountLimit `json:"perOwner"`
}

// Breaker configures which failures stop a pass, and how long the breaker then prevents further passes.
type Breaker struct {
	MaxUnreadyNodesFrac float64         `json:"maxUnreadyNodesFrac"`
	MaxPendingPods      plan.CountLimit `json:"maxPendingPods"`
	// MaxFailedFrac bounds the share of failed evictions, and the share of replacements that landed badly.
	MaxFailedFrac float64  `json:"maxFailedFrac"`
	Hold          Duration `json:"hold"`
	// PrometheusAlerts are regular expressions for whole names of alerts. While one of these alerts fires in the server
	// of load.prometheus, Evenkeel evicts nothing.
	PrometheusAlerts []string `json:"prometheusAlerts"`
}

// Usage sources. With SourceRequests, Evenkeel measures no usage.
const (
	SourceRequests      = "requests"
	SourceMetricsServer = "metricsServer"
	SourcePrometheus    = "prometheus"
	SourceLoadWatcher   = "loadWatcher"
)

// LoadSource configures where Evenkeel reads the usage of nodes and pods.
type LoadSource struct {
	Source string `json:"source"`
	// Timeout is for each request of a sample.
	Timeout Duration `json:"timeout"`
	// Serve serves the usage of nodes with the API of a load-watcher.
	Serve       bool        `json:"serve"`
	Interval    Duration    `json:"interval"`
	Statistic   string      `json:"statistic"`
	Window      Duration    `json:"window"`
	MaxAge      Duration    `json:"maxAge"`
	MinCoverage float64     `json:"minCoverage"`
	Prometheus  Prometheus  `json:"prometheus"`
	LoadWatcher LoadWatcher `json:"loadWatcher"`
}

// Prometheus configures usage from PromQL queries.
type Prometheus struct {
	URL    string `json:"url"`
	Preset string `json:"preset"`
	// RateWindow is the range over which queries of the preset compute rates.
	RateWindow Duration `json:"rateWindow"`
	// Job selects the jobs of the preset's queries, as a regular expression that matches the whole name.
	Job string `json:"job"`
	// Queries return the usage of nodes, by resource. A query replaces the query of the preset for that resource.
	Queries map[string]string `json:"queries"`
	// PodQueries return the usage of pods: cpu, memory, and resources of Queries as ratios of the node. An empty query
	// disables cpu or memory.
	PodQueries map[string]string `json:"podQueries"`
	// Freshness contains queries, by resource, that return when the usage of each node was measured.
	Freshness map[string]string `json:"freshness"`
	NodeLabel string            `json:"nodeLabel"`
	TokenFile string            `json:"tokenFile"`
	BasicAuth BasicAuth         `json:"basicAuth"`
	OAuth2    OAuth2            `json:"oauth2"`
	// Headers are added to each query, such as X-Scope-OrgID. Their values are not secret.
	Headers  map[string]string `json:"headers"`
	CAFile   string            `json:"caFile"`
	CertFile string            `json:"certFile"`
	KeyFile  string            `json:"keyFile"`
}

// BasicAuth is a user with a password.
type BasicAuth struct {
	Username     string `json:"username"`
	PasswordFile string `json:"passwordFile"`
}

// OAuth2 is a client that gets its tokens from a token server (grant type client_credentials).
type OAuth2 struct {
	ClientID         string   `json:"clientID"`
	ClientSecretFile string   `json:"clientSecretFile"`
	TokenURL         string   `json:"tokenURL"`
	Scopes           []string `json:"scopes"`
}

// LoadWatcher configures usage from a load-watcher.
type LoadWatcher struct {
	URL       string `json:"url"`
	TokenFile string `json:"tokenFile"`
	CAFile    string `json:"caFile"`
}

// Hints configure when Evenkeel labels or taints nodes under pressure.
type Hints struct {
	Enabled bool `json:"enabled"`
	// Label (key=value) and Taint (a key) are those that hinted nodes get. Empty ones are not written.
	Label string `json:"label"`
	Taint string `json:"taint"`
	// Former lists labels (key=value) and taints (keys) of earlier configurations. Evenkeel removes them
	// from nodes with
	// its hints, and never writes them.
	Former        []string   `json:"former"`
	MaxHintedFrac float64    `json:"maxHintedFrac"`
	TTL           Duration   `json:"ttl"`
	Rules         []HintRule `json:"rules"`
	// RulesFile is the path of a file with further rules, in the format of dynamicScheduler's rule.yaml.
	RulesFile string `json:"rulesFile"`
}

// HintRule defines when a node is under pressure. Above or Below is the level; nil is not set.
type HintRule struct {
	Name     string   `json:"name"`
	Resource string   `json:"resource,omitempty"`
	PromQL   string   `json:"promql,omitempty"`
	Above    *float64 `json:"above,omitempty"`
	Below    *float64 `json:"below,omitempty"`
	// Clear is the level at which the node is no longer under pressure. Nil is clearMargin inside the level.
	Clear *float64 `json:"clear,omitempty"`
	// For is how many consecutive samples must be beyond the level; 0 means 1.
	For int `json:"for,omitempty"`
}

// Placement describes the schedulers of the cluster, and the nodes to which no pods are sent.
type Placement struct {
	SchedulerConfig string `json:"schedulerConfig"`
	// Profiles describe schedulers that are not in the file of SchedulerConfig.
	Profiles []schedulerconfig.SchedulerProfile `json:"profiles"`
	// Trust is the share of the latest predictions of a scheduler that must be right. With 0, none are watched.
	Trust            float64   `json:"trust"`
	NewArchitectures bool      `json:"newArchitectures"`
	NodeMarks        NodeMarks `json:"nodeMarks"`
}

// NodeMarks are marks that programs put on nodes, beside nodemarks.Defaults, in the form PLACE:KEY or PLACE:KEY=VALUE.
type NodeMarks struct {
	Starting  []string `json:"starting"`
	Outgoing  []string `json:"outgoing"`
	Draining  []string `json:"draining"`
	Unhealthy []string `json:"unhealthy"`
}

// Approvals configure whether the leader executes plans that a person approved with `evenkeel apply`.
type Approvals struct {
	Enabled bool `json:"enabled"`
	// ValidFor is how long a plan waits for approval, and how long discarded moves stay away. It is
	// 0 only in the copy that Hash makes.
	ValidFor Duration `json:"validFor,omitzero"`
}

// History configures how long the plans of passes are kept.
type History struct {
	// Keep is the age from which a plan is deleted. It is 0 only in the copy that PlanHash makes.
	Keep Duration `json:"keep,omitzero"`
}

// NotifyReceiver is a server that gets notifications, such as Slack.
type NotifyReceiver struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	URL    string `json:"url,omitempty"`
	// URLFile contains the URL, if the URL is a secret.
	URLFile   string `json:"urlFile,omitempty"`
	TokenFile string `json:"tokenFile,omitempty"`
	CAFile    string `json:"caFile,omitempty"`
	// Events are the events that the receiver gets. If it is empty, the receiver gets all events.
	Events []string `json:"events,omitempty"`
}

// secretFile is a file with credentials for the usage source or a receiver of notifications.
type secretFile struct {
	user     string // what needs the file
	position string // FILE:LINE: KEY of the key that names it
	path     string
}
