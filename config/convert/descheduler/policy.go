package descheduler

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The policy in the format v1alpha2. An integer is nil if the file omits it.
type policy struct {
	typeMeta
	Profiles                         []profile         `json:"profiles"`
	NodeSelector                     *string           `json:"nodeSelector"`
	MaxNoOfPodsToEvictPerNode        *int              `json:"maxNoOfPodsToEvictPerNode"`
	MaxNoOfPodsToEvictPerNamespace   *int              `json:"maxNoOfPodsToEvictPerNamespace"`
	MaxNoOfPodsToEvictTotal          *int              `json:"maxNoOfPodsToEvictTotal"`
	EvictionFailureEventNotification *bool             `json:"evictionFailureEventNotification"`
	MetricsCollector                 *metricsCollector `json:"metricsCollector"`
	MetricsProviders                 []metricsProvider `json:"metricsProviders"`
	GracePeriodSeconds               *int              `json:"gracePeriodSeconds"`
	// Tracing is a key that earlier versions and the comments of the chart have.
	Tracing json.RawMessage `json:"tracing"`
}

type profile struct {
	Name         string         `json:"name"`
	PluginConfig []pluginConfig `json:"pluginConfig"`
	Plugins      pluginSets     `json:"plugins"`
}

type pluginConfig struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// pluginSets are the enabled plugins by extension point.
type pluginSets struct {
	PreSort           pluginSet `json:"presort"`
	Sort              pluginSet `json:"sort"`
	Deschedule        pluginSet `json:"deschedule"`
	Balance           pluginSet `json:"balance"`
	Filter            pluginSet `json:"filter"`
	PreEvictionFilter pluginSet `json:"preevictionfilter"`
}

type pluginSet struct {
	Enabled  []string `json:"enabled"`
	Disabled []string `json:"disabled"`
}

type metricsCollector struct {
	Enabled bool `json:"enabled"`
}

type metricsProvider struct {
	Source     string            `json:"source"`
	Prometheus *prometheusServer `json:"prometheus"`
}

type prometheusServer struct {
	URL       string     `json:"url"`
	AuthToken *authToken `json:"authToken"`
}

type authToken struct {
	SecretReference *secretReference `json:"secretReference"`
}

type secretReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Sources of metrics, in metricsProviders and in metricsUtilization.
const (
	kubernetesMetrics = "KubernetesMetrics"
	prometheusMetrics = "Prometheus"
)

type namespaces struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

// evictorArgs are the arguments of the plugin DefaultEvictor.
type evictorArgs struct {
	typeMeta
	NodeSelector            string                `json:"nodeSelector"`
	LabelSelector           *metav1.LabelSelector `json:"labelSelector"`
	NamespaceLabelSelector  *metav1.LabelSelector `json:"namespaceLabelSelector"`
	PriorityThreshold       *priorityThreshold    `json:"priorityThreshold"`
	NodeFit                 bool                  `json:"nodeFit"`
	MinReplicas             int                   `json:"minReplicas"`
	MinPodAge               string                `json:"minPodAge"`
	NoEvictionPolicy        string                `json:"noEvictionPolicy"`
	PodProtections          podProtections        `json:"podProtections"`
	EvictLocalStoragePods   bool                  `json:"evictLocalStoragePods"`
	EvictDaemonSetPods      bool                  `json:"evictDaemonSetPods"`
	EvictSystemCriticalPods bool                  `json:"evictSystemCriticalPods"`
	IgnorePvcPods           bool                  `json:"ignorePvcPods"`
	IgnorePodsWithoutPDB    bool                  `json:"ignorePodsWithoutPDB"`
	EvictFailedBarePods     bool                  `json:"evictFailedBarePods"`
}

type priorityThreshold struct {
	Value *int   `json:"value"`
	Name  string `json:"name"`
}

type podProtections struct {
	ExtraEnabled    []string              `json:"extraEnabled"`
	DefaultDisabled []string              `json:"defaultDisabled"`
	Config          *podProtectionsConfig `json:"config"`
}

type podProtectionsConfig struct {
	PodsWithPVC *podsWithPVCConfig `json:"PodsWithPVC"`
}

type podsWithPVCConfig struct {
	ProtectedStorageClasses []struct {
		Name string `json:"name"`
	} `json:"protectedStorageClasses"`
}
