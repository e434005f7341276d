package prometheus

import (
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// Preset is a set of queries for metrics that many have.
type Preset string

// Presets.
const (
	// NodeExporter asks node_exporter for what nodes use.
	NodeExporter Preset = "nodeExporter"
	// Kubelet asks the kubelet's own metrics, of /metrics/resource or of cAdvisor:
	// memory is the working set, as the kubelet counts it when it evicts.
	Kubelet Preset = "kubelet"
	// RecordingRules asks the rules that load-watcher needs, and node_exporter
	// itself about nodes for which a rule gives nothing.
	RecordingRules Preset = "recordingRules"
	// None asks only what the user wrote.
	None Preset = "none"
)

// Presets are all there are.
func Presets() []Preset { return []Preset{NodeExporter, Kubelet, RecordingRules, None} }

// metricQuery is one thing to ask.
type metricQuery struct {
	resource, text string
	unit           usage.Unit
	// timeQuery asks when a node was measured, in Unix seconds. Where it says
	// nothing of a node, the value counts as measured when it was asked for, or, with
	// dated, as not usable.
	timeQuery   string
	requireTime bool
	ofPods      bool
}

// The queries of presets, with L for the node label and W for the window of rates.
// max and min by L are there because two jobs may scrape the same node: the same
// number comes out, rather than twice of it or an error. Idle, iowait and steal
// are times in which a CPU was not used by the node's processes; the sum of all
// modes is the time there was, so that missed scrapes cancel out.
const (
	exporterCPU = `1 - sum by (L) (rate(node_cpu_seconds_total{mode=~"idle|iowait|steal"}[W])) / sum by (L) (rate(node_cpu_seconds_total[W]))`
	exporterMem = `1 - max by (L) (node_memory_MemAvailable_bytes) / max by (L) (node_memory_MemTotal_bytes)`
	exporterAge = `min by (L) (timestamp(node_memory_MemAvailable_bytes))`

	kubeletCPU = `max by (L) (rate(node_cpu_usage_seconds_total[W])) or max by (L) (rate(container_cpu_usage_seconds_total{id="/"}[W]))`
	kubeletMem = `max by (L) (node_memory_working_set_bytes) or max by (L) (container_memory_working_set_bytes{id="/"})`
	kubeletAge = `min by (L) (timestamp(node_memory_working_set_bytes)) or min by (L) (timestamp(container_memory_working_set_bytes{id="/"}))`

	ruleCPU    = `max by (L) (instance:node_cpu:ratio) or (` + exporterCPU + `)`
	ruleCPUAge = `min by (L) (timestamp(instance:node_cpu:ratio)) or ` + exporterAge
	ruleMem    = `max by (L) (instance:node_memory_utilisation:ratio) or (` + exporterMem + `)`
	ruleMemAge = `min by (L) (timestamp(instance:node_memory_utilisation:ratio)) or ` + exporterAge

	// A container that was restarted has two series for a while, and one that two
	// endpoints of the kubelet tell about has two always: the larger is it.
	podCPU = `max by (namespace, pod) (rate(pod_cpu_usage_seconds_total[W])) or ` +
		`sum by (namespace, pod) (max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!="", container!="POD", pod!=""}[W])))`
	podMem = `max by (namespace, pod) (pod_memory_working_set_bytes) or ` +
		`sum by (namespace, pod) (max by (namespace, pod, container) (container_memory_working_set_bytes{container!="", container!="POD", pod!=""}))`
)

// nodeQueries of a preset about nodes, in order.
func (p Preset) nodeQueries() []metricQuery {
	switch p {
	case NodeExporter:
		return []metricQuery{{"cpu", exporterCPU, usage.Share, exporterAge, true, false}, {"memory", exporterMem, usage.Share, exporterAge, true, false}}
	case Kubelet:
		return []metricQuery{{"cpu", kubeletCPU, usage.Cores, kubeletAge, true, false}, {"memory", kubeletMem, usage.Bytes, kubeletAge, true, false}}
	case RecordingRules:
		return []metricQuery{{"cpu", ruleCPU, usage.Share, ruleCPUAge, true, false}, {"memory", ruleMem, usage.Share, ruleMemAge, true, false}}
	}
	return nil
}

// podQueries of any preset but none: pods are the kubelet's, whoever knows nodes.
func (p Preset) podQueries() []metricQuery {
	if p == None || p == "" {
		return nil
	}
	return []metricQuery{{"cpu", podCPU, usage.Cores, "", false, true}, {"memory", podMem, usage.Bytes, "", false, true}}
}

// fillPreset writes a label and a window into the query of a preset. Neither letter
// stands alone in any of them for anything else.
func fillPreset(query, label string, window time.Duration) string {
	return strings.NewReplacer("(L)", "("+label+")", "[W]", "["+promqlDuration(window)+"]").Replace(query)
}

// promqlDuration writes a duration in milliseconds, which PromQL takes whole only.
func promqlDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}
