package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultServerVersion is assumed where a snapshot does not name its server version.
const defaultServerVersion = "1.37"

// kubectlGet makes a snapshot of what decisions look at.
const kubectlGet = "kubectl get nodes,pods,namespaces,services,pdb,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"

// New builds the indexed snapshot. The order of objects does not matter; o and
// its objects are kept and must not change afterwards. The error names every
// duplicate and every selector that cannot be read.
func New(o *Objects) (*Snapshot, error) {
	if o.empty() && len(o.Skipped) == 0 && len(o.PlannerState) == 0 {
		return nil, errors.New("it is empty: no object stands there; make a snapshot with evenkeel capture, or with " + kubectlGet)
	}
	if len(o.Nodes) == 0 {
		return nil, errors.New("the snapshot has no Node" + o.skippedKinds() + "; include nodes, as in: " + kubectlGet)
	}
	b := &builder{o: o, s: &Snapshot{
		Objects: o, TakenAt: o.TakenAt, ClusterUID: o.ClusterUID,
		nodeByName: make(map[string]NodeID, len(o.Nodes)), podByUID: make(map[string]PodID, len(o.Pods)),
		namespaceByName: make(map[string]*corev1.Namespace, len(o.Namespaces)),
	}}
	b.parseVersion()
	b.addNamespaces()
	b.addClaims()
	b.addNodes()
	b.addPods()
	b.addWorkloads()
	b.addServices()
	b.addBudgets()
	if b.s.TakenAt.IsZero() {
		b.s.TakenAt = newestTimestamp(o)
	}
	b.s.TakenAt = b.s.TakenAt.UTC()
	if o.Usage != nil {
		b.s.Usage = b.s.resolveUsage(o.Usage)
	}
	return b.s, b.joinedErrors()
}

// empty tells that no object was read.
func (o *Objects) empty() bool {
	n := 0
	for _, k := range kinds {
		n += k.count(o)
	}
	return n == 0
}

// skippedKinds names what was given instead.
func (o *Objects) skippedKinds() string {
	if len(o.Skipped) == 0 {
		return ""
	}
	kinds := sortedKeys(o.Skipped)
	if len(kinds) > 3 {
		kinds = append(kinds[:3], "...")
	}
	return " (left out, as not needed: " + strings.Join(kinds, ", ") + ")"
}

type builder struct {
	o          *Objects
	s          *Snapshot
	labelIndex labelIndex
	errs       []error
}

// maxErrors bounds what is said at once: the same file given twice makes every
// object a duplicate.
const maxErrors = 5

func (b *builder) joinedErrors() error {
	if n := len(b.errs) - maxErrors; n > 0 {
		return errors.Join(append(b.errs[:maxErrors:maxErrors], fmt.Errorf("... and %d more mistakes; was the same file given twice?", n))...)
	}
	return errors.Join(b.errs...)
}

func (b *builder) addError(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

func (b *builder) parseVersion() {
	v := b.o.ServerVersion
	if v == "" {
		v = defaultServerVersion
	}
	parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	if len(parts) < 2 {
		b.addError("server version %q is not major.minor, such as 1.37", v)
		return
	}
	digits := func(s string) string {
		return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	}
	var err1, err2 error
	b.s.ServerMajor, err1 = strconv.Atoi(digits(parts[0]))
	b.s.ServerMinor, err2 = strconv.Atoi(digits(parts[1]))
	if err1 != nil || err2 != nil {
		b.addError("server version %q is not major.minor, such as 1.37", v)
	}
}

func (b *builder) addNamespaces() {
	for _, ns := range b.o.Namespaces {
		if b.s.namespaceByName[ns.Name] != nil {
			b.addError("Namespace %s stands twice in the snapshot", ns.Name)
		}
		b.s.namespaceByName[ns.Name] = ns
		if ns.Name == metav1.NamespaceSystem && b.s.ClusterUID == "" {
			b.s.ClusterUID = string(ns.UID)
		}
	}
}

func (b *builder) addClaims() {
	b.s.claimByKey = make(map[string]*corev1.PersistentVolumeClaim, len(b.o.PersistentVolumeClaims))
	for _, c := range b.o.PersistentVolumeClaims {
		key := c.Namespace + "/" + c.Name
		if b.s.claimByKey[key] != nil {
			b.addError("PersistentVolumeClaim %s stands twice in the snapshot", key)
		}
		b.s.claimByKey[key] = c
	}
}

func (b *builder) addNodes() {
	for _, n := range sorted(b.o.Nodes) {
		if _, twice := b.s.nodeByName[n.Name]; twice {
			b.addError("Node %s stands twice in the snapshot", n.Name)
			continue
		}
		id := NodeID(len(b.s.Nodes))
		b.s.nodeByName[n.Name] = id
		b.s.Nodes = append(b.s.Nodes, Node{
			ID: id, Object: n, Name: n.Name, Ready: NodeReady(n),
			Allocatable: ResourcesOf(n.Status.Allocatable), AllowedPods: n.Status.Allocatable.Pods().Value(),
		})
	}
}

// NodeReady reports whether the node says that it is.
func NodeReady(n *corev1.Node) bool {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (b *builder) addPods() {
	ask := requestCache{}
	b.s.Pods = slices.Grow(b.s.Pods, len(b.o.Pods))
	for _, p := range sorted(b.o.Pods) {
		if b.isDuplicatePod(p) {
			b.addError("Pod %s/%s stands twice in the snapshot", p.Namespace, p.Name)
			continue
		}
		pod := Pod{
			ID: PodID(len(b.s.Pods)), Object: p, Node: b.nodeID(p), Workload: NoWorkload,
			Controller:  metav1.GetControllerOfNoCopy(p),
			Terminating: p.DeletionTimestamp != nil,
			Terminal:    p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
			Ready:       podReady(p),
		}
		pod.Requests, pod.NonZero = ask.requests(p)
		if pod.Node != NoNode && !pod.Terminal {
			n := &b.s.Nodes[pod.Node]
			n.Pods = append(n.Pods, pod.ID)
			n.Requested.Add(pod.Requests)
		}
		b.recordUnattempted(&pod)
		if p.UID != "" {
			b.s.podByUID[string(p.UID)] = pod.ID
		}
		b.s.Pods = append(b.s.Pods, pod)
	}
}

// isDuplicatePod: the pod before, in order, has the same name.
func (b *builder) isDuplicatePod(p *corev1.Pod) bool {
	if len(b.s.Pods) == 0 {
		return false
	}
	last := b.s.Pods[len(b.s.Pods)-1].Object
	return last.Namespace == p.Namespace && last.Name == p.Name
}

func (b *builder) nodeID(p *corev1.Pod) NodeID {
	if p.Spec.NodeName == "" {
		return NoNode
	}
	if id, ok := b.s.nodeByName[p.Spec.NodeName]; ok {
		return id
	}
	b.s.UnknownNodePods++
	return NoNode
}

// recordUnattempted notes a pod that no scheduler has looked at: an attempt leaves a
// condition PodScheduled, and so does a scheduling gate.
func (b *builder) recordUnattempted(p *Pod) {
	o := p.Object
	if o.Spec.NodeName != "" || p.Terminating || p.Terminal || len(o.Spec.SchedulingGates) > 0 || o.CreationTimestamp.IsZero() {
		return
	}
	for i := range o.Status.Conditions {
		if o.Status.Conditions[i].Type == corev1.PodScheduled {
			return
		}
	}
	name := o.Spec.SchedulerName
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	if b.s.OldestUnattempted == nil {
		b.s.OldestUnattempted = map[string]PodID{}
	}
	first, ok := b.s.OldestUnattempted[name]
	if !ok || o.CreationTimestamp.Before(&b.s.Pods[first].Object.CreationTimestamp) {
		b.s.OldestUnattempted[name] = p.ID
	}
}

func podReady(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// newestTimestamp is the latest moment that the objects speak of: when they cannot have
// been read earlier.
func newestTimestamp(o *Objects) time.Time {
	var t time.Time
	see := func(x metav1.Time) {
		if x.After(t) {
			t = x.Time
		}
	}
	for _, n := range o.Nodes {
		see(n.CreationTimestamp)
		for i := range n.Status.Conditions {
			see(n.Status.Conditions[i].LastTransitionTime)
			see(n.Status.Conditions[i].LastHeartbeatTime)
		}
	}
	for _, p := range o.Pods {
		see(p.CreationTimestamp)
		if p.Status.StartTime != nil {
			see(*p.Status.StartTime)
		}
		for i := range p.Status.Conditions {
			see(p.Status.Conditions[i].LastTransitionTime)
		}
	}
	return t
}
