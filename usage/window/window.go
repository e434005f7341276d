// Package window keeps samples for a while. The package computes statistics over a window and the time for which
// nodes have been beyond a level.
//
// The package decides what "hot" means over time, and when a sample is too old. The package never queries a
// source, never reads a clock, and never decides which usage is too high.
package window

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// maxSamplesKept limits the samples of one node or pod.
const maxSamplesKept = 1024

// Options controls which samples are kept and what is computed from them.
type Options struct {
	// Source is the name of the source.
	Source    string
	Statistic Statistic
	// Window is the period of the statistic. Window ends with the newest sample.
	Window time.Duration
	// KeepNodeSamples is the time for which samples of nodes are kept for Loads, if it is longer than Window.
	KeepNodeSamples time.Duration
	// NodesOnly means that the source does not measure pods.
	NodesOnly bool
	// MaxAge is the maximum age of the newest sample of a node or pod. If that sample is older,
	// the usage is unknown.
	MaxAge time.Duration
	// RateWindow is the period over which the source averages cpu; see cluster.Usage.
	RateWindow time.Duration
	// Interval is the time between samples. Interval determines how many samples fit a window.
	Interval time.Duration
	Watches  []LevelWatch
}

// PodPlace is the location of a pod.
type PodPlace struct {
	Node, UID string
	// Created is the creation time of the pod. Measurements before that time belong to another pod
	// of the same name.
	Created time.Time
}

// Windows holds samples. Windows is not safe for concurrent use.
type Windows struct {
	opts  Options
	nodes map[string]*node
	pods  map[string]*pod
	// sortedPods holds the pods sorted by namespace and name. Nil means that the pods must be sorted again.
	sortedPods []*pod
	// lastSampleTime is the time of the newest sample. sampleCount counts the samples.
	lastSampleTime time.Time
	sampleCount    uint32
	// historyUntil is the time of the newest sample from the source's history.
	historyUntil time.Time
	podClock     tenthsClock // times of pods are relative to it
	problems     []usage.Problem
}

// New returns windows without samples.
func New(o Options) *Windows {
	return &Windows{opts: o, nodes: map[string]*node{}, pods: map[string]*pod{}}
}

// maxSamples returns how many samples fit a window.
func (o Options) maxSamples(d time.Duration) int {
	if o.Interval <= 0 {
		return 1
	}
	return min(int(d/o.Interval)+1, maxSamplesKept)
}

// node holds the samples of a node.
type node struct {
	name, uid          string
	capacity, physical cluster.Resources
	at                 int64 // time of the last measurement of any resource
	used               map[string]*series
	states             []watchedNode // by watch
}

// isCurrent reports whether a measurement is not too old and not in the future. at is in Unix milliseconds.
func (o Options) isCurrent(at int64, now time.Time) bool {
	age := now.UnixMilli() - at
	return age <= o.MaxAge.Milliseconds() && age >= -cluster.MaxClockSkew.Milliseconds()
}
