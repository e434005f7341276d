package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
)

// Indexer takes one snapshot of a cluster after another. It keeps what it found about each pod until the pod changes,
// so the next snapshot takes less time. The snapshots are equal to those of New. An Indexer recognizes an object that
// has not changed by its pointer, and is not safe for concurrent use. The zero value is ready to use.
type Indexer struct {
	// IsMarked decides the marks of pods, their owners and their namespaces, from the labels and annotations of one
	// object alone. If it is nil, marks are unknown.
	IsMarked func(o metav1.Object) bool

	features  kubeversion.Features
	nodeNames []string                    // of the last snapshot, by NodeID
	pods      []indexedPod                // of the last snapshot, by PodID
	owners    map[metav1.Object]MarkState // of the last snapshot
}

// MarkState says whether the Indexer found an object marked by a person or a program.
type MarkState uint8

const (
	UnknownMark MarkState = iota
	Unmarked
	Marked
)

// indexedPod holds what the fields of a pod say, whatever the other objects are.
type indexedPod struct {
	object                       *corev1.Pod
	template                     *Template // nil: not indexed yet
	controller                   *metav1.OwnerReference
	node                         NodeID // in the last snapshot
	terminating, terminal, ready bool
	mark                         MarkState
	ordinary                     bool
	priority                     int32
}

// New is like the function New. The objects of earlier snapshots must not have changed.
func (x *Indexer) New(o *Objects) (*Snapshot, error) {
	s, err := newSnapshot(o, x)
	if err != nil {
		x.pods = nil // duplicates may be missing in it
	}
	return s, err
}

// sorted returns the pods, sorted by namespace, name and UID, with what is known about them.
func (x *Indexer) sorted(pods []*corev1.Pod) []indexedPod {
	changed := make(map[*corev1.Pod]struct{}, len(pods))
	for _, p := range pods {
		changed[p] = struct{}{}
	}
	if len(changed) < len(pods) { // a pod occurs twice
		x.pods = nil
	}
	kept := x.pods[:0]
	for _, k := range x.pods {
		if _, stays := changed[k.object]; stays {
			delete(changed, k.object)
			kept = append(kept, k)
		}
	}
	clear(x.pods[len(kept):])
	if len(kept) > 0 {
		pods = slices.Collect(maps.Keys(changed))
	}
	out := make([]indexedPod, 0, len(kept)+len(pods))
	for _, p := range sortedByName(pods) {
		before, _ := slices.BinarySearchFunc(kept, p, func(k indexedPod, p *corev1.Pod) int { return compareNames(k.object, p) })
		out, kept = append(append(out, kept[:before]...), indexedPod{object: p}), kept[before:]
	}
	return append(out, kept...)
}

// compareNames compares the namespaces and names.
func compareNames(p, q *corev1.Pod) int {
	return cmp.Or(strings.Compare(p.Namespace, q.Namespace), strings.Compare(p.Name, q.Name))
}

// addPods adds the pods in order. The nodes must have been added.
func (b *builder) addPods() {
	if b.index.features != b.s.Scheduler {
		b.index.features, b.index.pods = b.s.Scheduler, nil
	}
	nodes := b.newNodeIDs()
	b.index.pods = b.index.sorted(b.o.Pods)
	b.s.Pods = make([]Pod, 0, len(b.index.pods))
	last, lastIsNew := (*indexedPod)(nil), false
	for i := range b.index.pods {
		k := &b.index.pods[i]
		isNew := k.template == nil
		if last != nil && (isNew || lastIsNew) && compareNames(last.object, k.object) == 0 {
			b.addError("Pod %s/%s occurs twice in the snapshot", k.object.Namespace, k.object.Name)
			continue
		}
		switch {
		case isNew:
			b.index.read(k, last)
			k.node = b.nodeID(k.object)
		case k.node == NoNode || nodes[k.node] == NoNode:
			k.node = b.nodeID(k.object)
		default:
			k.node = nodes[k.node]
		}
		b.addPod(k)
		last, lastIsNew = k, isNew
	}
}

// read reads the fields of the pod k. The parameter last is the pod before it, or nil.
func (x *Indexer) read(k, last *indexedPod) {
	p := k.object
	k.controller = metav1.GetControllerOfNoCopy(p)
	k.terminating = p.DeletionTimestamp != nil
	k.terminal = p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	k.ready = podReady(p)
	k.ordinary, k.priority = isOrdinary(k), ptr.Deref(p.Spec.Priority, 0)
	k.template = newTemplate(last, k, &x.features)
	k.mark = x.markOf(p)
}

func (x *Indexer) markOf(o metav1.Object) MarkState {
	switch {
	case x.IsMarked == nil:
		return UnknownMark
	case x.IsMarked(o):
		return Marked
	}
	return Unmarked
}

// inheritedMarks returns a function that returns Marked if one of the owners or the namespace, which may be nil, is
// marked. It keeps the marks of the owners.
func (x *Indexer) inheritedMarks() func(owners []metav1.Object, ns *corev1.Namespace) MarkState {
	last := x.owners
	x.owners = make(map[metav1.Object]MarkState, len(last))
	return func(owners []metav1.Object, ns *corev1.Namespace) (all MarkState) {
		if ns != nil {
			all = x.markOf(ns)
		}
		for _, o := range owners {
			mark, known := last[o]
			if !known {
				mark = x.markOf(o)
			}
			x.owners[o] = mark
			all = max(all, mark)
		}
		return all
	}
}

// isOrdinary is Pod.Ordinary.
func isOrdinary(k *indexedPod) bool {
	p := k.object
	return k.controller != nil && !k.terminating && !k.terminal && p.Generation <= 1 && len(p.Finalizers) == 0 &&
		p.Spec.SchedulingGroup == nil && len(p.Spec.SchedulingGates)+len(p.Spec.ResourceClaims) == 0 && p.Status.ExtendedResourceClaimStatus == nil &&
		!(&Pod{Object: p, Controller: k.controller}).BelongsToNode() &&
		!slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
		}) &&
		!slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			known := corev1.VolumeSource{Projected: v.Projected, ConfigMap: v.ConfigMap, Secret: v.Secret, DownwardAPI: v.DownwardAPI}
			return v.VolumeSource != known || known == corev1.VolumeSource{}
		})
}

func (b *builder) addPod(k *indexedPod) {
	pod := Pod{
		ID: PodID(len(b.s.Pods)), Object: k.object, Template: k.template, Requests: k.template.requests, NonZero: k.template.nonZero,
		Node: k.node, Workload: NoWorkload, Controller: k.controller, Terminating: k.terminating, Terminal: k.terminal, Ready: k.ready, Mark: k.mark, Ordinary: k.ordinary, Priority: k.priority,
	}
	if pod.Node != NoNode && !pod.Terminal {
		n := &b.s.Nodes[pod.Node]
		if n.Pods == nil {
			n.Pods = make([]PodID, 0, 1+len(b.o.Pods)*5/4/len(b.s.Nodes))
		}
		n.Pods = append(n.Pods, pod.ID)
		n.Requested.Add(pod.Requests)
	}
	if pod.Node == NoNode {
		b.recordUnattempted(&pod)
	}
	if n := len(b.s.Pods); n == 0 || !pod.HasTemplateOf(&b.s.Pods[n-1]) {
		b.s.templateRuns = append(b.s.templateRuns, pod.ID)
	}
	b.s.Pods = append(b.s.Pods, pod)
}

// newNodeIDs returns the IDs of the nodes of the last snapshot, or NoNode for those that are gone.
func (b *builder) newNodeIDs() []NodeID {
	x := b.index
	ids := make([]NodeID, len(x.nodeNames))
	for i, name := range x.nodeNames {
		ids[i] = NoNode
		if id, ok := b.s.nodeByName[name]; ok {
			ids[i] = id
		}
	}
	x.nodeNames = make([]string, len(b.s.Nodes))
	for i := range b.s.Nodes {
		x.nodeNames[i] = b.s.Nodes[i].Name
	}
	return ids
}
