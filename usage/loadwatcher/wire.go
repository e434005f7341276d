package loadwatcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Answer is the body of GET /watcher as load-watcher v0.2 sends it. Trimaran's client reads
// window.end, and the type, operator and value of each metric.
type Answer struct {
	// Timestamp is the time of the answer, in Unix seconds.
	Timestamp int64  `json:"timestamp"`
	Window    Window `json:"window"`
	// Source names the origin of the values, such as KubernetesMetricsServer.
	Source string `json:"source"`
	Data   Data   `json:"data"`
}

// Window is the period that the values cover.
type Window struct {
	// Duration is 15m, 10m or 5m.
	Duration string `json:"duration"`
	// Start and End are in Unix seconds.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Data holds the nodes by name.
type Data struct {
	Nodes map[string]NodeMetrics `json:"NodeMetricsMap"`
}

// NodeMetrics holds the metrics of one node.
type NodeMetrics struct {
	Metrics  []Metric `json:"metrics"`
	Tags     Tags     `json:"tags"`
	Metadata Metadata `json:"metadata"`
}

// Tags is always empty, but is part of the format.
type Tags struct{}

// Metadata describes the location of a node. load-watcher leaves it empty.
type Metadata struct {
	DataCenter string `json:"dataCenter"`
}

// Metric is one value of a node, with its type and statistic.
type Metric struct {
	Name     string     `json:"name"`
	Type     MetricType `json:"type"`
	Operator Operator   `json:"operator"`
	Rollup   string     `json:"rollup"`
	// Value is a percentage of the node's capacity.
	Value float64 `json:"value"`
}

// MetricType says what a metric measures.
type MetricType string

// Types of metrics. Other types are ignored.
const (
	CPU    MetricType = "CPU"
	Memory MetricType = "Memory"
)

// Operator is the statistic over the samples in the window.
type Operator string

// Operators of metrics. load-watcher also sends "Unknown".
const (
	Average   Operator = "AVG"
	Deviation Operator = "STD"
	Latest    Operator = "Latest"
)

// errNoNodes means that an answer has no NodeMetricsMap. The server is probably not a load-watcher.
var errNoNodes = errors.New("data.NodeMetricsMap is missing; is the server a load-watcher?")

// Encode writes an answer. Encode leaves out values that are not finite, and nodes without a value. A single NaN
// makes trimaran's client reject the whole answer, while a missing node only scores 0. Encode writes empty lists
// instead of null.
func Encode(w io.Writer, a Answer) error {
	nodes := make(map[string]NodeMetrics, len(a.Data.Nodes))
	for name, n := range a.Data.Nodes {
		if n.Metrics = finiteMetrics(n.Metrics); len(n.Metrics) > 0 {
			nodes[name] = n
		}
	}
	a.Data.Nodes = nodes
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encoding a load-watcher answer: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func finiteMetrics(in []Metric) []Metric {
	out := make([]Metric, 0, len(in))
	for _, m := range in {
		if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
			out = append(out, m)
		}
	}
	return out
}

// Decode reads an answer and ignores unknown keys. Decode returns an error if a value is not a JSON number,
// because load-watcher can send a bare NaN.
func Decode(body []byte) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, fmt.Errorf("reading a load-watcher answer: %w", err)
	}
	if a.Data.Nodes == nil {
		return Answer{}, fmt.Errorf("reading a load-watcher answer: %w", errNoNodes)
	}
	return a, nil
}
