package loadwatcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Answer is the body of GET /watcher, in the form that load-watcher v0.2 sends and
// trimaran's client reads. Of it, trimaran reads window.end and each metric's
// type, operator and value.
type Answer struct {
	// Timestamp is when the answer was made, in Unix seconds.
	Timestamp int64  `json:"timestamp"`
	Window    Window `json:"window"`
	// Source is where the values come from, such as KubernetesMetricsServer.
	Source string `json:"source"`
	Data   Data   `json:"data"`
}

// Window is what the values are of.
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

// NodeMetrics is one node's.
type NodeMetrics struct {
	Metrics  []Metric `json:"metrics"`
	Tags     Tags     `json:"tags"`
	Metadata Metadata `json:"metadata"`
}

// Tags are always empty; they are part of the form.
type Tags struct{}

// Metadata says where a node is; nobody fills it in.
type Metadata struct {
	DataCenter string `json:"dataCenter"`
}

// Metric is one value.
type Metric struct {
	Name     string   `json:"name"`
	Type     Type     `json:"type"`
	Operator Operator `json:"operator"`
	Rollup   string   `json:"rollup"`
	// Value is in percent of the node's capacity.
	Value float64 `json:"value"`
}

// Type is what a metric is about.
type Type string

// Types of metrics. There are others, of which nothing is read.
const (
	CPU    Type = "CPU"
	Memory Type = "Memory"
)

// Operator is what was made of the samples in the window.
type Operator string

// Operators of metrics. Unknown is one, too.
const (
	Average   Operator = "AVG"
	Deviation Operator = "STD"
	Latest    Operator = "Latest"
)

// errNoNodes says that an answer has no NodeMetricsMap at all: something else
// than a load-watcher answered.
var errNoNodes = errors.New("it has no data.NodeMetricsMap; is this a load-watcher?")

// Encode writes an answer. Values that are not finite are left out, and so are
// nodes without a value: one NaN makes trimaran's client throw the whole answer
// away, and a node that is left out merely scores 0. Lists are never null.
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

// Decode reads an answer. Keys that are not known are passed over; a value that
// is no JSON number, such as the bare NaN that load-watcher can send, makes the
// answer unreadable.
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
