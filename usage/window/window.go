// Package window keeps samples for a while and says what they come to: a statistic
// over a window, and which nodes have been beyond a level for how long.
//
// It decides what "hot" means over time, and when a sample is too old to mean
// anything. It never asks a source and never reads a clock, and it never decides
// what is too much.
package window

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// maxSamplesKept bounds the samples of one node or pod.
const maxSamplesKept = 1024

// Options say what is kept and what is made of it.
type Options struct {
	// Source is the name of what is asked.
	Source    string
	Statistic Statistic
	// Window is what the statistic is taken over. It ends with the newest sample.
	Window time.Duration
	// KeepNodeSamples is how long samples of nodes are kept for Loads, if longer than
	// Window.
	KeepNodeSamples time.Duration
	// NodesOnly: the source is not asked about pods.
	NodesOnly bool
	// MaxAge is how old the newest sample of a node or pod may be: without a newer
	// one its usage is unknown.
	MaxAge time.Duration
	// RateWindow is over how long a measurement of cpu is itself a mean; see cluster.Usage.
	RateWindow time.Duration
	// Interval is the time between samples: how many of them fit a window.
	Interval time.Duration
	Watches  []LevelWatch
}

// PodPlace is where a pod stands.
type PodPlace struct {
	Node, UID string
	// Created is when the pod came to be: what was measured before is of another
	// one with its name.
	Created time.Time
}

// Windows hold samples. They are not safe for use by several goroutines.
type Windows struct {
	opts  Options
	nodes map[string]*node
	pods  map[string]*pod
	// sortedPods is pods by namespace and name; nil when it has to be made anew.
	sortedPods []*pod
	// lastSampleTime is when the newest sample was, and samples counts them.
	lastSampleTime time.Time
	sampleCount    uint32
	// historyUntil is when the newest of those was that the source remembered.
	historyUntil time.Time
	timeBase     time.Time // times of pods count from here
	problems     []usage.Problem
}

// New makes windows without a sample.
func New(o Options) *Windows {
	return &Windows{opts: o, nodes: map[string]*node{}, pods: map[string]*pod{}}
}

// Add takes a sample in; samples come in the order in which they were taken, and one
// that was taken much before the last begins anew. Nodes are those of the cluster: others are
// forgotten. What was measured of a resource when it was the time before, is the same
// measurement and counts once. place says where a pod stands, or that it is not there,
// and is then left out; nil where the sample itself says.
func (w *Windows) Add(s usage.Sample, nodes []usage.Node, place func(pod string) (PodPlace, bool)) {
	if s.Taken.Before(w.lastSampleTime.Add(-cluster.MaxClockSkew)) { // our clock was set back: nothing kept can be told from what comes
		*w = *New(w.opts)
	}
	if w.timeBase.IsZero() {
		w.timeBase = s.Taken.Add(-24 * time.Hour)
	}
	if s.Taken.After(w.lastSampleTime) {
		w.lastSampleTime = s.Taken
	}
	if s.FromHistory && s.Taken.After(w.historyUntil) {
		w.historyUntil = s.Taken
	}
	w.problems = s.Problems
	w.sampleCount++
	w.dropGoneNodes(nodes)
	for i := range nodes {
		if r, ok := s.Nodes[nodes[i].Name]; ok {
			w.addNode(&nodes[i], r, s.Taken.Add(cluster.MaxClockSkew))
		}
	}
	w.updateStates(nodes)
	w.addPods(s, place)
}

// dropGoneNodes forgets nodes that are gone, and those that came back as another machine.
func (w *Windows) dropGoneNodes(nodes []usage.Node) {
	here := make(map[string]*usage.Node, len(nodes))
	for i := range nodes {
		here[nodes[i].Name] = &nodes[i]
	}
	for name, n := range w.nodes {
		if now := here[name]; now == nil || now.UID != n.uid {
			delete(w.nodes, name)
		}
	}
}

// addNode takes in what was measured anew, each resource at its own time. What was
// measured later than latest, or before there was such a node, is left out: a source
// remembers a machine of the same name, and tells of it for a while.
func (w *Windows) addNode(n *usage.Node, r usage.Reading, latest time.Time) {
	x := w.nodes[n.Name]
	if x == nil {
		x = &node{name: n.Name, uid: n.UID, used: map[string]*series{}, states: make([]watchState, len(w.opts.Watches))}
	}
	x.capacity, x.allocatable = n.Capacity, n.Allocatable
	for resource, v := range r.Used {
		at := r.At
		if own, ok := r.Times[resource]; ok {
			at = own
		}
		if at.IsZero() || at.After(latest) || at.Before(n.Created) || v < 0 && !usage.MayBeNegative(resource) {
			continue
		}
		of := x.used[resource]
		if of == nil {
			of = &series{}
			x.used[resource] = of
		}
		if last, ok := of.last(); ok && at.UnixMilli() <= last.at {
			continue
		}
		of.sample = w.sampleCount
		of.push(nodeSample{at.UnixMilli(), v}, w.maxSamples(max(w.opts.Window, w.opts.KeepNodeSamples)))
		w.nodes[n.Name] = x
	}
	if at := r.At.UnixMilli(); !r.At.IsZero() && !r.At.After(latest) && !r.At.Before(n.Created) {
		x.at = max(x.at, at)
	}
}

// maxSamples is how many samples a window holds.
func (w *Windows) maxSamples(d time.Duration) int {
	if w.opts.Interval <= 0 {
		return 1
	}
	return min(int(d/w.opts.Interval)+1, maxSamplesKept)
}

func (w *Windows) addPods(s usage.Sample, place func(string) (PodPlace, bool)) {
	limit := w.maxSamples(w.opts.Window)
	for key, r := range s.Pods {
		if r.At.IsZero() || r.At.After(s.Taken.Add(cluster.MaxClockSkew)) {
			continue
		}
		at := PodPlace{Node: r.Node}
		if place != nil {
			var here bool
			if at, here = place(key); !here || r.At.Before(at.Created) || w.hadOtherPod(key, at.UID) && r.At.Add(-s.PodDelay).Before(at.Created) {
				continue
			}
		}
		p := w.pods[key]
		if p == nil || p.uid != at.UID || p.node != at.Node {
			p = w.startPod(p, key, at)
		}
		p.add(w.toTenths(r.At), r.Used, limit)
		p.sample = w.sampleCount
	}
	w.removeExpiredPods(place)
}

// hadOtherPod reports whether there was a pod of that name before this one.
func (w *Windows) hadOtherPod(key, uid string) bool {
	p := w.pods[key]
	return p != nil && p.uid != uid
}

// startPod begins anew for a pod of that name. One before stood elsewhere, or was
// another: it has left.
func (w *Windows) startPod(before *pod, key string, at PodPlace) *pod {
	key = strings.Clone(key) // it may be part of a whole answer
	if before != nil {
		before.left = true
		w.pods[key+" "+before.uid+" "+before.node] = before
	}
	namespace, name, _ := strings.Cut(key, "/")
	p := &pod{namespace: namespace, name: name, uid: at.UID, node: at.Node}
	w.pods[key], w.sortedPods = p, nil
	return p
}

// removeExpiredPods forgets pods that have not been measured for long, and looks for those that
// the last sample did not measure.
func (w *Windows) removeExpiredPods(place func(string) (PodPlace, bool)) {
	oldest := w.toTenths(w.lastSampleTime.Add(-max(w.opts.Window, w.opts.MaxAge)))
	for key, p := range w.pods {
		if last, ok := p.used.last(); !ok || last.at < oldest {
			delete(w.pods, key)
			w.sortedPods = nil
			continue
		}
		if !p.left && p.sample != w.sampleCount && place != nil {
			at, here := place(key)
			p.left = !here || at.UID != p.uid || at.Node != p.node
		}
	}
}

// toTenths are tenths of seconds since the base: enough to tell samples apart, in
// half the space.
func (w *Windows) toTenths(t time.Time) uint32 {
	return uint32(max(t.Sub(w.timeBase)/(100*time.Millisecond), 0))
}

// podsInOrder are the pods by namespace and name.
func (w *Windows) podsInOrder() []*pod {
	if w.sortedPods == nil {
		w.sortedPods = make([]*pod, 0, len(w.pods))
		for _, p := range w.pods {
			w.sortedPods = append(w.sortedPods, p)
		}
		slices.SortFunc(w.sortedPods, func(a, b *pod) int {
			return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.uid, b.uid), strings.Compare(a.node, b.node))
		})
	}
	return w.sortedPods
}

// node is what is kept of one.
type node struct {
	name, uid             string
	capacity, allocatable cluster.Resources
	at                    int64 // when all of it was measured last, or later
	used                  map[string]*series
	states                []watchState // by watch
}
