package cluster

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultServerVersion is used if a snapshot does not state its server version. It is the
// newest supported version.
const defaultServerVersion = "1.37"

// kubectlGet is a command that captures every kind that decisions depend on.
const kubectlGet = "kubectl get nodes,pods,namespaces,services,pdb,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"

// New builds the indexed snapshot. The order of the objects does not matter. The snapshot keeps
// o and its objects, which must not change afterwards. The error names every duplicate object.
func New(o *Objects) (*Snapshot, error) {
	if o.empty() && len(o.Skipped) == 0 && len(o.PlannerState) == 0 {
		return nil, errors.New("the snapshot contains no objects; create one with evenkeel capture, or with " + kubectlGet)
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
			b.addError("Namespace %s occurs twice in the snapshot", ns.Name)
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
			b.addError("PersistentVolumeClaim %s occurs twice in the snapshot", key)
		}
		b.s.claimByKey[key] = c
	}
}

func (b *builder) addNodes() {
	for _, n := range sorted(b.o.Nodes) {
		if _, twice := b.s.nodeByName[n.Name]; twice {
			b.addError("Node %s occurs twice in the snapshot", n.Name)
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

// NodeReady reports whether the node's Ready condition is true.
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
			b.addError("Pod %s/%s occurs twice in the snapshot", p.Namespace, p.Name)
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

// isDuplicatePod reports whether the previously added pod has the same namespace and name. Pods
// must be added in order.
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

// recordUnattempted remembers the oldest pod per scheduler that the scheduler has not tried to
// place. An attempt leaves a PodScheduled condition, and so does a scheduling gate.
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

// newestTimestamp returns the newest timestamp in the objects. The snapshot cannot have been
// taken before it.
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
