package descheduler

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pluginArgs are the arguments of a plugin.
type pluginArgs interface {
	// convert fills in the strategy.
	convert(s *strategy)
}

// extensionPoint is the list of a profile in which a plugin is enabled.
type extensionPoint string

const (
	deschedule extensionPoint = "deschedule"
	balance    extensionPoint = "balance"
)

// A plugin and the strategy that replaces it.
type plugin struct {
	point    extensionPoint
	strategy string
	newArgs  func() pluginArgs // with the defaults of the plugin
}

const defaultEvictor = "DefaultEvictor"

// plugins are the plugins of the descheduler that state what is wrong in a cluster.
var plugins = map[string]plugin{
	"LowNodeUtilization":                          {balance, "NodeLoad", func() pluginArgs { return &lowNodeUtilizationArgs{} }},
	"HighNodeUtilization":                         {balance, "NodeConsolidation", func() pluginArgs { return &highNodeUtilizationArgs{} }},
	"RemoveDuplicates":                            {balance, "Duplicates", func() pluginArgs { return &duplicatesArgs{} }},
	"RemovePodsViolatingTopologySpreadConstraint": {balance, "TopologySpread", func() pluginArgs { return &topologySpreadArgs{} }},
	"RemovePodsViolatingInterPodAntiAffinity":     {deschedule, "InterPodAntiAffinity", func() pluginArgs { return &antiAffinityArgs{} }},
	"RemovePodsViolatingNodeAffinity":             {deschedule, "NodeAffinity", func() pluginArgs { return &nodeAffinityArgs{} }},
	"RemovePodsViolatingNodeTaints":               {deschedule, "NodeTaints", func() pluginArgs { return &nodeTaintsArgs{} }},
	"RemovePodsHavingTooManyRestarts":             {deschedule, "Restarts", func() pluginArgs { return &restartsArgs{} }},
	"PodLifeTime":                                 {deschedule, "Lifetime", func() pluginArgs { return &podLifeTimeArgs{} }},
	"RemoveFailedPods":                            {deschedule, "FailedPods", func() pluginArgs { return &failedPodsArgs{} }},
}

// typeMeta names the version and the kind of a policy or of arguments.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// podScope selects the pods of a plugin.
type podScope struct {
	Namespaces    *namespaces           `json:"namespaces"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector"`
}

type lowNodeUtilizationArgs struct {
	typeMeta
	thresholds
	MetricsUtilization  *metricsUtilization `json:"metricsUtilization"`
	EvictableNamespaces *namespaces         `json:"evictableNamespaces"`
	EvictionLimits      *evictionLimits     `json:"evictionLimits"`
}

type metricsUtilization struct {
	MetricsServer bool             `json:"metricsServer"`
	Source        string           `json:"source"`
	Prometheus    *prometheusQuery `json:"prometheus"`
}

type prometheusQuery struct {
	Query string `json:"query"`
}

type evictionLimits struct {
	Node *int `json:"node"`
}

type highNodeUtilizationArgs struct {
	typeMeta
	Thresholds          map[string]float64 `json:"thresholds"`
	NumberOfNodes       int                `json:"numberOfNodes"`
	EvictionModes       []string           `json:"evictionModes"`
	EvictableNamespaces *namespaces        `json:"evictableNamespaces"`
}

type duplicatesArgs struct {
	typeMeta
	Namespaces        *namespaces `json:"namespaces"`
	ExcludeOwnerKinds []string    `json:"excludeOwnerKinds"`
}

type topologySpreadArgs struct {
	typeMeta
	podScope
	Constraints            []string `json:"constraints"`
	TopologyBalanceNodeFit *bool    `json:"topologyBalanceNodeFit"`
	// IncludeSoftConstraints is an argument of earlier versions.
	IncludeSoftConstraints *bool `json:"includeSoftConstraints"`
}

type antiAffinityArgs struct {
	typeMeta
	podScope
}

type nodeAffinityArgs struct {
	typeMeta
	podScope
	NodeAffinityType []string `json:"nodeAffinityType"`
}

type nodeTaintsArgs struct {
	typeMeta
	podScope
	taints
}

type restartsArgs struct {
	typeMeta
	podScope
	restarts
}

type podLifeTimeArgs struct {
	typeMeta
	podScope
	OwnerKinds                   *ownerKinds       `json:"ownerKinds"`
	MaxPodLifeTimeSeconds        *int              `json:"maxPodLifeTimeSeconds"`
	States                       []string          `json:"states"`
	Conditions                   []conditionFilter `json:"conditions"`
	ExitCodes                    []int             `json:"exitCodes"`
	IncludingInitContainers      bool              `json:"includingInitContainers"`
	IncludingEphemeralContainers bool              `json:"includingEphemeralContainers"`
}

type ownerKinds struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

type conditionFilter struct {
	Type                              string `json:"type"`
	Status                            string `json:"status"`
	Reason                            string `json:"reason"`
	MinTimeSinceLastTransitionSeconds *int   `json:"minTimeSinceLastTransitionSeconds"`
}

type failedPodsArgs struct {
	typeMeta
	podScope
	failedPods
}
