package schedulerconfig

import (
	"encoding/json"
	"iter"
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// version and kind are the required apiVersion and kind of the file.
const (
	version = "kubescheduler.config.k8s.io/v1"
	kind    = "KubeSchedulerConfiguration"
)

// schedulerFile is a KubeSchedulerConfiguration. Fields that do not influence placement stay json.RawMessage.
type schedulerFile struct {
	APIVersion                string             `json:"apiVersion"`
	Kind                      string             `json:"kind"`
	Parallelism               json.RawMessage    `json:"parallelism"`
	LeaderElection            json.RawMessage    `json:"leaderElection"`
	ClientConnection          json.RawMessage    `json:"clientConnection"`
	EnableProfiling           json.RawMessage    `json:"enableProfiling"`
	EnableContentionProfiling json.RawMessage    `json:"enableContentionProfiling"`
	PodInitialBackoffSeconds  json.RawMessage    `json:"podInitialBackoffSeconds"`
	PodMaxBackoffSeconds      json.RawMessage    `json:"podMaxBackoffSeconds"`
	DelayCacheUntilActive     json.RawMessage    `json:"delayCacheUntilActive"`
	PercentageOfNodesToScore  *int               `json:"percentageOfNodesToScore"`
	Profiles                  []SchedulerProfile `json:"profiles"`
	Extenders                 []json.RawMessage  `json:"extenders"`
}

// SchedulerProfile is a profile of a KubeSchedulerConfiguration.
type SchedulerProfile struct {
	SchedulerName            string           `json:"schedulerName"`
	PercentageOfNodesToScore *int             `json:"percentageOfNodesToScore"`
	Plugins                  schedulerPlugins `json:"plugins"`
	PluginConfig             []pluginConfig   `json:"pluginConfig"`
}

// schedulerPlugins lists the enabled and disabled plugins of each extension point.
type schedulerPlugins struct {
	MultiPoint         pluginSet `json:"multiPoint"`
	PreEnqueue         pluginSet `json:"preEnqueue"`
	QueueSort          pluginSet `json:"queueSort"`
	PreFilter          pluginSet `json:"preFilter"`
	Filter             pluginSet `json:"filter"`
	PostFilter         pluginSet `json:"postFilter"`
	PreScore           pluginSet `json:"preScore"`
	Score              pluginSet `json:"score"`
	Reserve            pluginSet `json:"reserve"`
	Permit             pluginSet `json:"permit"`
	PreBind            pluginSet `json:"preBind"`
	Bind               pluginSet `json:"bind"`
	PostBind           pluginSet `json:"postBind"`
	PlacementGenerate  pluginSet `json:"placementGenerate"`
	PlacementScore     pluginSet `json:"placementScore"`
	PodGroupPostFilter pluginSet `json:"podGroupPostFilter"`
}

// extensionPoints yields all extension points with their keys, in the order of the fields.
func (p *schedulerPlugins) extensionPoints() iter.Seq2[string, *pluginSet] {
	return func(yield func(string, *pluginSet) bool) {
		fields := reflect.ValueOf(p).Elem()
		for i := range fields.NumField() {
			if !yield(fields.Type().Field(i).Tag.Get("json"), fields.Field(i).Addr().Interface().(*pluginSet)) {
				return
			}
		}
	}
}

type pluginSet struct {
	Enabled  []plugin `json:"enabled"`
	Disabled []plugin `json:"disabled"`
}

type plugin struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
}

type pluginConfig struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// ResourceSpec is a resource with its weight in a score; 0 counts as 1.
type ResourceSpec struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
}

// ShapePoint maps a utilization in percent of allocatable to a score from 0 to 10.
type ShapePoint struct {
	Utilization int `json:"utilization"`
	Score       int `json:"score"`
}

// Arguments of the supported plugins.
type (
	typeMeta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	fitArgs struct {
		typeMeta
		IgnoredResources      []string         `json:"ignoredResources"`
		IgnoredResourceGroups []string         `json:"ignoredResourceGroups"`
		ScoringStrategy       *scoringStrategy `json:"scoringStrategy"`
	}
	scoringStrategy struct {
		Type                     string          `json:"type"`
		Resources                []ResourceSpec  `json:"resources"`
		RequestedToCapacityRatio *capacityShapes `json:"requestedToCapacityRatio"`
	}
	capacityShapes struct {
		Shape []ShapePoint `json:"shape"`
	}
	balancedArgs struct {
		typeMeta
		Resources []ResourceSpec `json:"resources"`
	}
	spreadArgs struct {
		typeMeta
		DefaultConstraints []corev1.TopologySpreadConstraint `json:"defaultConstraints"`
		DefaultingType     string                            `json:"defaultingType"`
	}
	nodeAffinityArgs struct {
		typeMeta
		AddedAffinity *corev1.NodeAffinity `json:"addedAffinity"`
	}
	interPodArgs struct {
		typeMeta
		HardPodAffinityWeight              *int `json:"hardPodAffinityWeight"`
		IgnorePreferredTermsOfExistingPods bool `json:"ignorePreferredTermsOfExistingPods"`
	}
	volumeBindingArgs struct {
		typeMeta
		BindTimeoutSeconds *int         `json:"bindTimeoutSeconds"`
		Shape              []ShapePoint `json:"shape"`
	}
	// metricSource says where trimaran reads usage.
	metricSource struct {
		WatcherAddress string          `json:"watcherAddress"`
		MetricProvider json.RawMessage `json:"metricProvider"`
	}
	packingArgs struct {
		typeMeta
		DefaultRequests           map[string]string `json:"defaultRequests"`
		DefaultRequestsMultiplier string            `json:"defaultRequestsMultiplier"`
		TargetUtilization         *int              `json:"targetUtilization"`
		metricSource
	}
	riskBalancingArgs struct {
		typeMeta
		SafeVarianceMargin      *float64 `json:"safeVarianceMargin"`
		SafeVarianceSensitivity *float64 `json:"safeVarianceSensitivity"`
		metricSource
	}
	lowRiskArgs struct {
		typeMeta
		SmoothingWindowSize *int               `json:"smoothingWindowSize"`
		RiskLimitWeights    map[string]float64 `json:"riskLimitWeights"`
		metricSource
	}
)
