// Package window keeps samples for a while. It computes statistics over a window, and how long
// nodes have been beyond a level.
//
// It decides what "hot" means over time, and when a sample is too old. It never asks a source,
// never reads a clock, and never decides what usage is too high.
package window

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// maxSamplesKept limits the samples of one node or pod.
const maxSamplesKept = 1024

// Options says which samples are kept and what is computed from them.
type Options struct {
	// Source is the name of the source.
	Source    string
	Statistic Statistic
	// Window is the period of the statistic. It ends with the newest sample.
	Window time.Duration
	// KeepNodeSamples is how long samples of nodes are kept for Loads, if it is longer than
	// Window.
	KeepNodeSamples time.Duration
	// NodesOnly means that the source does not measure pods.
	NodesOnly bool
	// MaxAge is the maximum age of the newest sample of a node or pod. If that sample is older,
	// the usage is unknown.
	MaxAge time.Duration
	// RateWindow is the period over which the source averages cpu; see cluster.Usage.
	RateWindow time.Duration
	// Interval is the time between samples. It determines how many fit a window.
	Interval time.Duration
	Watches  []LevelWatch
}

// PodPlace is the place of a pod.
type PodPlace struct {
	Node, UID string
	// Created is when the pod was created. Earlier measurements belong to another pod of the
	// same name.
	Created time.Time
}

// Windows holds samples. It is not safe for concurrent use.
type Windows struct {
	opts  Options
	nodes map[string]*node
	pods  map[string]*pod
	// sortedPods are the pods by namespace and name. Nil means that they must be sorted again.
	sortedPods []*pod
	// lastSampleTime is when the newest sample was taken. sampleCount counts the samples.
	lastSampleTime time.Time
	sampleCount    uint32
	// historyUntil is the time of the newest sample from the source's history.
	historyUntil time.Time
	timeBase     time.Time // times of pods are relative to it
	problems     []usage.Problem
}

// New returns windows without samples.
func New(o Options) *Windows {
	return &Windows{opts: o, nodes: map[string]*node{}, pods: map[string]*pod{}}
}

// Add adds a sample. Samples must arrive in the order in which they were taken. If one was
// taken much earlier than the last, all earlier samples are dropped. nodes are the nodes of the
// cluster; others are dropped. A resource whose measurement time has not changed counts once.
// place returns the place of a pod; pods for which it returns false are left out. If place is
// nil, the sample states the places.
func (w *Windows) Add(s usage.Sample, nodes []usage.Node, place func(pod string) (PodPlace, bool)) {
	if s.Taken.Before(w.lastSampleTime.Add(-cluster.MaxClockSkew)) { // the clock was set back, so old and new samples cannot be ordered
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

// dropGoneNodes drops nodes that are gone, and nodes that were replaced by another machine.
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

// addNode adds the new measurements of a node, each resource with its own time. It leaves out
// measurements later than latest, and those from before the node was created. A source may
// still report an earlier machine of the same name.
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

// maxSamples returns how many samples fit a window.
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

// hadOtherPod reports whether there was another pod with this name.
func (w *Windows) hadOtherPod(key, uid string) bool {
	p := w.pods[key]
	return p != nil && p.uid != uid
}

// startPod starts the samples of a pod. An earlier pod of that name, or the same pod on another
// node, has left.
func (w *Windows) startPod(before *pod, key string, at PodPlace) *pod {
	key = strings.Clone(key) // the key may share memory with a whole answer
	if before != nil {
		before.left = true
		w.pods[key+" "+before.uid+" "+before.node] = before
	}
	namespace, name, _ := strings.Cut(key, "/")
	p := &pod{namespace: namespace, name: name, uid: at.UID, node: at.Node}
	w.pods[key], w.sortedPods = p, nil
	return p
}

// removeExpiredPods drops pods that were not measured for a long time. It also marks pods as
// left if the last sample did not measure them and they are gone.
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

// toTenths converts a time to tenths of a second since the time base. That is precise enough to
// distinguish samples and takes half the space.
func (w *Windows) toTenths(t time.Time) uint32 {
	return uint32(max(t.Sub(w.timeBase)/(100*time.Millisecond), 0))
}

// podsInOrder returns the pods sorted by namespace and name.
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

// node holds the samples of a node.
type node struct {
	name, uid             string
	capacity, allocatable cluster.Resources
	at                    int64 // time of the last measurement of any resource
	used                  map[string]*series
	states                []watchState // by watch
}
