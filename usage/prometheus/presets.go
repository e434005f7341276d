package prometheus

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// Preset is a set of queries for widely used metrics.
type Preset string

// Presets.
const (
	// NodeExporter uses node_exporter's metrics of nodes.
	NodeExporter Preset = "nodeExporter"
	// Kubelet uses the kubelet's own metrics, from /metrics/resource or cAdvisor. Memory is the
	// working set, which the kubelet also uses for evictions.
	Kubelet Preset = "kubelet"
	// RecordingRules uses the recording rules that load-watcher needs. For nodes without such a
	// value it uses node_exporter.
	RecordingRules Preset = "recordingRules"
	// None uses only the queries of the user.
	None Preset = "none"
)

// Presets returns all presets.
func Presets() []Preset { return []Preset{NodeExporter, Kubelet, RecordingRules, None} }

// metricQuery is one query and the interpretation of its result.
type metricQuery struct {
	resource, text string
	unit           usage.Unit
	// timeQuery is a query for the time at which each node was measured, in Unix seconds. A value
	// without such a time counts as measured at the query time; with requireTime it is rejected.
	timeQuery   string
	requireTime bool
	ofPods      bool
}

// In the queries of presets, L stands for the node label, W for the rate window, and J for the job selector, if any.
//
// The queries about nodes keep the labels of the target. If two targets report a node, the answer contains two values
// for it, which is ambiguous, so a target with forged labels cannot replace or add to the real value. For this reason
// no query aggregates several targets. A rate counts only if its target still reports, because the range of a rate
// also contains targets that have disappeared, such as the pod of node_exporter before a restart. A metric replaces
// the one after "or" only within a job, so another job cannot speak for the kubelet. Recording rules may lack a job.
//
// Idle, iowait and steal are times in which the node's processes did not use the CPU. The sum of all modes is the
// total time, so missed scrapes cancel out.
const (
	exporterCPU = `(1 - sum without (cpu, mode) (rate(node_cpu_seconds_total{mode=~"idle|iowait|steal",J}[W])) / ` +
		`sum without (cpu, mode) (rate(node_cpu_seconds_total{J}[W]))) and node_memory_MemAvailable_bytes{J}`
	exporterMem = `1 - node_memory_MemAvailable_bytes{J} / node_memory_MemTotal_bytes{J}`
	exporterAge = `min by (L) (timestamp(node_memory_MemAvailable_bytes{J}))`

	kubeletCPU = `(rate(node_cpu_usage_seconds_total{J}[W]) and node_cpu_usage_seconds_total{J}) or on (L, job) ` +
		`(rate(container_cpu_usage_seconds_total{id="/",J}[W]) and container_cpu_usage_seconds_total{id="/",J})`
	kubeletMem = `node_memory_working_set_bytes{J} or on (L, job) container_memory_working_set_bytes{id="/",J}`
	kubeletAge = `min by (L) (timestamp(node_memory_working_set_bytes{J})) or ` +
		`min by (L) (timestamp(container_memory_working_set_bytes{id="/",J}))`

	ruleCPU    = `instance:node_cpu:ratio{J} or on (L) (` + exporterCPU + `)`
	ruleCPUAge = `min by (L) (timestamp(instance:node_cpu:ratio{J})) or ` + exporterAge
	ruleMem    = `instance:node_memory_utilisation:ratio{J} or on (L) (` + exporterMem + `)`
	ruleMemAge = `min by (L) (timestamp(instance:node_memory_utilisation:ratio{J})) or ` + exporterAge

	// A restarted container has two series for a while. A container that two kubelet endpoints
	// report always has two series. In both cases, the larger value is the container's usage.
	podCPU = `max by (namespace, pod) (rate(pod_cpu_usage_seconds_total{J}[W])) or ` +
		`sum by (namespace, pod) (max by (namespace, pod, container) (` +
		`rate(container_cpu_usage_seconds_total{container!="", container!="POD", pod!="",J}[W])))`
	podMem = `max by (namespace, pod) (pod_memory_working_set_bytes{J}) or ` +
		`sum by (namespace, pod) (max by (namespace, pod, container) (` +
		`container_memory_working_set_bytes{container!="", container!="POD", pod!="",J}))`
)

// nodeQueries returns the preset's queries about nodes, in order.
func (p Preset) nodeQueries() []metricQuery {
	switch p {
	case NodeExporter:
		return []metricQuery{{"cpu", exporterCPU, usage.Share, exporterAge, true, false},
			{"memory", exporterMem, usage.Share, exporterAge, true, false}}
	case Kubelet:
		return []metricQuery{{"cpu", kubeletCPU, usage.Cores, kubeletAge, true, false},
			{"memory", kubeletMem, usage.Bytes, kubeletAge, true, false}}
	case RecordingRules:
		return []metricQuery{{"cpu", ruleCPU, usage.Share, ruleCPUAge, true, false}, {"memory", ruleMem, usage.Share, ruleMemAge, true, false}}
	}
	return nil
}

// podQueries returns the preset's queries about pods. All presets except None use the kubelet's metrics for pods.
func (p Preset) podQueries() []metricQuery {
	if p == None || p == "" {
		return nil
	}
	return []metricQuery{{"cpu", podCPU, usage.Cores, "", false, true}, {"memory", podMem, usage.Bytes, "", false, true}}
}

// fillPreset inserts the node label, the job selector and the rate window into a preset query. No preset query contains
// "(L)", "(L, job)", "{J}", ",J}" or "[W]" with another meaning.
func (o Options) fillPreset(query string) string {
	alone, further := "", "}"
	if o.Job != "" {
		job := "job=~" + strconv.Quote(o.Job) + "}"
		alone, further = "{"+job, ","+job
	}
	return strings.NewReplacer("(L)", "("+o.NodeLabel+")", "(L, job)", "("+o.NodeLabel+", job)", "{J}", alone,
		",J}", further, "[W]", "["+promqlDuration(o.RateWindow)+"]").Replace(query)
}

// promqlDuration formats a duration in whole seconds or milliseconds. PromQL does not accept fractions.
func promqlDuration(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}
