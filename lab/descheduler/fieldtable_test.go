package descheduler

import (
	"strings"

	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
)

// treatment says what the converter does with a field.
type treatment string

const (
	isSetting treatment = "setting"
	isComment treatment = "comment"
	isError   treatment = "error"
)

// field is a field of a policy, and what the converter does with it.
type field struct {
	path      string
	treatment treatment
	// value is a value of the field as YAML, which differs from the default.
	value string
	// want is a part of the setting, of the note or of the error that follows from the value.
	want string
	// with are other fields that the field needs to have an effect.
	with []string
}

// plugin returns the plugin to whose arguments the field belongs, or "".
func (f *field) plugin() string {
	name, _, _ := strings.Cut(f.path, ".")
	if pluginregistry.PluginRegistry[name].PluginArgInstance == nil {
		for _, w := range f.with {
			if strings.HasPrefix(w, "LowNodeUtilization.") {
				return "LowNodeUtilization" // the fields about metrics serve this plugin
			}
		}
		return ""
	}
	return name
}

// usesQuery are the fields of a policy whose LowNodeUtilization reads a Prometheus query.
var usesQuery = []string{"metricsProviders[].source=Prometheus", "metricsProviders[].prometheus.url=http://prometheus", "LowNodeUtilization.metricsUtilization.source=Prometheus", "LowNodeUtilization.thresholds={MetricResource: 20}", "LowNodeUtilization.targetThresholds={MetricResource: 50}", "LowNodeUtilization.metricsUtilization.prometheus.query=instance:node_cpu"}

// usesSecret are the fields of such a policy with a token for Prometheus.
var usesSecret = append(usesQuery[:len(usesQuery):len(usesQuery)],
	"metricsProviders[].prometheus.authToken.secretReference.name=token", "metricsProviders[].prometheus.authToken.secretReference.namespace=kube-system")

// fieldTable accounts for each field of the descheduler's types.
var fieldTable = []field{
	{"nodeSelector", isSetting, "pool=a", "pool=a", nil},
	{"maxNoOfPodsToEvictPerNode", isSetting, "7", "perNode: 7", nil},
	{"maxNoOfPodsToEvictPerNamespace", isSetting, "7", "perNamespace: 7", nil},
	{"maxNoOfPodsToEvictTotal", isSetting, "7", "perPass: 7", nil},
	{"gracePeriodSeconds", isSetting, "60", "gracePeriodSeconds: 60", nil},
	{"evictionFailureEventNotification", isComment, "true", "evictionFailureEventNotification", nil},
	{"metricsCollector.enabled", isComment, "true", "metricsCollector", nil},
	{"metricsProviders[].source", isComment, "KubernetesMetrics", "KubernetesMetrics is not kept", nil},
	{"metricsProviders[].prometheus.url", isSetting, "http://other", `url: "http://other"`, usesQuery},
	{"metricsProviders[].prometheus.authToken.secretReference.name", isComment, "other", "secret other", usesSecret},
	{"metricsProviders[].prometheus.authToken.secretReference.namespace", isComment, "elsewhere", "now in elsewhere", usesSecret},
	{"profiles[].name", isComment, "silver", "Profile silver", nil},
	{"profiles[].pluginConfig[].name", isError, "Other", "profile gold: Other", nil},
	{"profiles[].pluginConfig[].args", isSetting, "{labelSelector: {matchLabels: {a: b}}}", "a=b", nil},
	{"profiles[].plugins.deschedule.enabled", isSetting, "[RemovePodsViolatingNodeTaints]", "type: NodeTaints", []string{"RemovePodsViolatingNodeTaints.excludedTaints=[spot]"}},
	{"profiles[].plugins.balance.enabled", isSetting, "[RemoveDuplicates]", "type: Duplicates", []string{"RemoveDuplicates.excludeOwnerKinds=[Job]"}},
	{"profiles[].plugins.presort.enabled", isComment, "[RemoveDuplicates]", "plugins.presort.enabled", nil},
	{"profiles[].plugins.sort.enabled", isComment, "[RemoveDuplicates]", "plugins.sort.enabled", nil},
	{"profiles[].plugins.presort.disabled", isComment, "[DefaultEvictor]", "plugins.presort.disabled", nil},
	{"profiles[].plugins.sort.disabled", isComment, "[DefaultEvictor]", "plugins.sort.disabled", nil},
	{"profiles[].plugins.deschedule.disabled", isComment, "[DefaultEvictor]", "plugins.deschedule.disabled", nil},
	{"profiles[].plugins.balance.disabled", isComment, "[DefaultEvictor]", "plugins.balance.disabled", nil},
	{"profiles[].plugins.filter.disabled", isComment, "[DefaultEvictor]", "plugins.filter.disabled", nil},
	{"profiles[].plugins.preevictionfilter.disabled", isComment, "[DefaultEvictor]", "plugins.preevictionfilter.disabled", nil},
	{"profiles[].plugins.filter.enabled", isError, "[Other]", "profile gold: plugins.filter", nil},
	{"profiles[].plugins.preevictionfilter.enabled", isError, "[Other]", "profile gold: plugins.preevictionfilter", nil},
	{"DefaultEvictor.nodeSelector", isComment, "pool=a", "nodeSelector", nil},
	{"DefaultEvictor.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"DefaultEvictor.namespaceLabelSelector", isSetting, "{matchLabels: {a: b}}", `selector: "a=b"`, nil},
	{"DefaultEvictor.priorityThreshold.value", isSetting, "500", "priorityBelow: 500", nil},
	{"DefaultEvictor.priorityThreshold.name", isSetting, "gold", "priorityBelow: gold", nil},
	{"DefaultEvictor.nodeFit", isSetting, "true", "", nil}, // landing: notRequired goes
	{"DefaultEvictor.minReplicas", isSetting, "4", "minReplicas: 4", nil},
	{"DefaultEvictor.minPodAge", isSetting, "7m", "minPodAge: 7m", nil},
	{"DefaultEvictor.noEvictionPolicy", isSetting, "Mandatory", "noEvictionPolicy: mandatory", nil},
	{"DefaultEvictor.podProtections.extraEnabled", isSetting, "[PodsWithPVC]", "PodsWithPVC", nil},
	{"DefaultEvictor.podProtections.defaultDisabled", isSetting, "[PodsWithLocalStorage]", "protect: [DaemonSetPods, SystemCriticalPods, BarePods, FailedBarePods]", nil},
	{"DefaultEvictor.podProtections.config.PodsWithPVC.protectedStorageClasses[].name", isSetting, "fast", "protectedStorageClasses: [fast]", []string{"DefaultEvictor.podProtections.extraEnabled=[PodsWithPVC]"}},
	{"DefaultEvictor.evictLocalStoragePods", isSetting, "true", "protect: [DaemonSetPods, SystemCriticalPods, BarePods, FailedBarePods]", nil},
	{"DefaultEvictor.evictDaemonSetPods", isComment, "true", "evictDaemonSetPods", nil},
	{"DefaultEvictor.evictSystemCriticalPods", isSetting, "true", "protect: [PodsWithLocalStorage, DaemonSetPods, BarePods, FailedBarePods]", nil},
	{"DefaultEvictor.evictFailedBarePods", isSetting, "true", "protect: [PodsWithLocalStorage, DaemonSetPods, SystemCriticalPods, BarePods]", nil},
	{"DefaultEvictor.ignorePvcPods", isSetting, "true", "PodsWithPVC", nil},
	{"DefaultEvictor.ignorePodsWithoutPDB", isSetting, "true", "PodsWithoutPDB", nil},
	{"LowNodeUtilization.useDeviationThresholds", isSetting, "true", "deviation: {cpu: 0.50}", nil},
	{"LowNodeUtilization.thresholds", isSetting, "{cpu: 30}", "below: {cpu: 0.30}", nil},
	{"LowNodeUtilization.targetThresholds", isSetting, "{cpu: 60}", "target: {cpu: 0.60}", nil},
	{"LowNodeUtilization.numberOfNodes", isSetting, "3", "numberOfNodes: 3", nil},
	{"LowNodeUtilization.evictionLimits.node", isSetting, "3", "perNode: 3", nil},
	{"LowNodeUtilization.evictableNamespaces.exclude", isSetting, "[bank]", "exclude: [bank]", nil},
	{"LowNodeUtilization.evictableNamespaces.include", isError, "[bank]", "only exclude", nil},
	{"LowNodeUtilization.metricsUtilization.metricsServer", isSetting, "true", "basis: load", nil},
	{"LowNodeUtilization.metricsUtilization.source", isSetting, "KubernetesMetrics", "source: metricsServer", []string{"metricsProviders[].source=KubernetesMetrics"}},
	{"LowNodeUtilization.metricsUtilization.prometheus.query", isSetting, "instance:node_memory", `memory: "instance:node_memory"`, usesQuery},
	{"HighNodeUtilization.thresholds", isSetting, "{cpu: 30}", "below: {cpu: 0.30}", nil},
	{"HighNodeUtilization.numberOfNodes", isSetting, "3", "numberOfNodes: 3", nil},
	{"HighNodeUtilization.evictionModes", isComment, "[OnlyThresholdingResources]", "OnlyThresholdingResources", nil},
	{"HighNodeUtilization.evictableNamespaces.exclude", isSetting, "[bank]", "exclude: [bank]", nil},
	{"HighNodeUtilization.evictableNamespaces.include", isError, "[bank]", "only exclude", nil},
	{"RemoveDuplicates.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemoveDuplicates.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsViolatingTopologySpreadConstraint.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemovePodsViolatingTopologySpreadConstraint.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsViolatingTopologySpreadConstraint.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemovePodsViolatingInterPodAntiAffinity.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemovePodsViolatingInterPodAntiAffinity.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsViolatingInterPodAntiAffinity.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemovePodsViolatingNodeAffinity.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemovePodsViolatingNodeAffinity.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsViolatingNodeAffinity.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemovePodsViolatingNodeTaints.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemovePodsViolatingNodeTaints.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsViolatingNodeTaints.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemovePodsHavingTooManyRestarts.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemovePodsHavingTooManyRestarts.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemovePodsHavingTooManyRestarts.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"PodLifeTime.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"PodLifeTime.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"PodLifeTime.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemoveFailedPods.namespaces.include", isSetting, "[shop]", "include: [shop]", nil},
	{"RemoveFailedPods.namespaces.exclude", isSetting, "[shop]", "exclude: [shop]", nil},
	{"RemoveFailedPods.labelSelector", isSetting, "{matchLabels: {a: b}}", `podSelector: "a=b"`, nil},
	{"RemoveDuplicates.excludeOwnerKinds", isSetting, "[StatefulSet]", "ownerKinds: {exclude: [StatefulSet]}", nil},
	{"RemovePodsViolatingTopologySpreadConstraint.constraints", isSetting, "[ScheduleAnyway]", "whenUnsatisfiable: [ScheduleAnyway]", nil},
	{"RemovePodsViolatingTopologySpreadConstraint.topologyBalanceNodeFit", isComment, "false", "topologyBalanceNodeFit", nil},
	{"RemovePodsViolatingNodeAffinity.nodeAffinityType", isSetting, "[preferredDuringSchedulingIgnoredDuringExecution]", "preferred: true", nil},
	{"RemovePodsViolatingNodeTaints.includePreferNoSchedule", isSetting, "true", "preferNoSchedule: true", nil},
	{"RemovePodsViolatingNodeTaints.excludedTaints", isSetting, "[spot]", "exclude: [spot]", nil},
	{"RemovePodsViolatingNodeTaints.includedTaints", isSetting, "[spot]", "include: [spot]", nil},
	{"RemovePodsHavingTooManyRestarts.podRestartThreshold", isSetting, "5", "minRestarts: 5", nil},
	{"RemovePodsHavingTooManyRestarts.includingInitContainers", isSetting, "true", "initContainers: true", nil},
	{"RemovePodsHavingTooManyRestarts.states", isSetting, "[CrashLoopBackOff]", "states: [CrashLoopBackOff]", nil},
	{"PodLifeTime.ownerKinds.include", isSetting, "[Job]", "ownerKinds: {include: [Job]}", nil},
	{"PodLifeTime.ownerKinds.exclude", isSetting, "[Job]", "ownerKinds: {exclude: [Job]}", nil},
	{"PodLifeTime.maxPodLifeTimeSeconds", isSetting, "7200", "maxAge: 2h", nil},
	{"PodLifeTime.states", isSetting, "[Pending]", "states: [Pending]", nil},
	{"PodLifeTime.conditions[].type", isSetting, "Custom", "type: Custom", []string{"PodLifeTime.conditions[].type=DisruptionTarget"}},
	{"PodLifeTime.conditions[].status", isSetting, `"False"`, `status: "False"`, []string{"PodLifeTime.conditions[].type=DisruptionTarget"}},
	{"PodLifeTime.conditions[].reason", isSetting, "Done", "reason: Done", []string{"PodLifeTime.conditions[].type=DisruptionTarget"}},
	{"PodLifeTime.conditions[].minTimeSinceLastTransitionSeconds", isSetting, "60", "minTimeSinceTransition: 1m", []string{"PodLifeTime.conditions[].type=DisruptionTarget"}},
	{"PodLifeTime.exitCodes", isSetting, "[1]", "exitCodes: [1]", nil},
	{"PodLifeTime.includingInitContainers", isSetting, "true", "initContainers: true", []string{"PodLifeTime.states=[Pending]"}},
	{"PodLifeTime.includingEphemeralContainers", isSetting, "true", "ephemeralContainers: true", []string{"PodLifeTime.states=[Pending]"}},
	{"RemoveFailedPods.excludeOwnerKinds", isSetting, "[Job]", "ownerKinds: {exclude: [Job]}", nil},
	{"RemoveFailedPods.minPodLifetimeSeconds", isSetting, "7200", "minAge: 2h", nil},
	{"RemoveFailedPods.reasons", isSetting, "[Evicted]", "reasons: [Evicted]", nil},
	{"RemoveFailedPods.exitCodes", isSetting, "[1]", "exitCodes: [1]", nil},
	{"RemoveFailedPods.includingInitContainers", isSetting, "true", "initContainers: true", []string{"RemoveFailedPods.reasons=[Evicted]"}},
}
