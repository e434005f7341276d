package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// defaultServerVersion is the newest known version. Its model predicts if the version is unknown.
var defaultServerVersion = fmt.Sprintf("1.%d", kubeversion.Newest)

// kubectlGet is a command that prints all objects that decisions depend on.
const kubectlGet = "kubectl get nodes,pods,namespaces,services,pdb,quota,limits,serviceaccounts,replicasets,deployments,statefulsets,daemonsets,jobs,cronjobs,replicationcontrollers,priorityclasses,runtimeclasses,pvc,pv,storageclasses,csinodes,csidrivers,volumeattachments,csistoragecapacities -A -o yaml"

// New indexes the objects, in any order. The snapshot keeps o and its objects, which must not
// change afterwards. The error lists duplicate objects.
func New(o *Objects) (*Snapshot, error) { return newSnapshot(o, &Indexer{}) }

func newSnapshot(o *Objects, x *Indexer) (*Snapshot, error) {
	if o.empty() && len(o.Skipped) == 0 && len(o.PlannerState) == 0 {
		return nil, errors.New("the snapshot contains no objects; create one with evenkeel capture, or with " + kubectlGet)
	}
	if len(o.Nodes) == 0 {
		return nil, errors.New("the snapshot has no Node" + o.skippedKinds() + "; include nodes, as in: " + kubectlGet)
	}
	b := &builder{o: o, index: x, s: &Snapshot{
		Objects: o, TakenAt: o.TakenAt, ClusterUID: o.ClusterUID,
		nodeByName:      make(map[string]NodeID, len(o.Nodes)),
		namespaceByName: make(map[string]*corev1.Namespace, len(o.Namespaces)),
	}}
	b.s.podByUID = sync.OnceValue(b.s.indexUIDs)
	b.podIndex = NewPodIndex(b.s)
	b.parseVersion()
	b.addNamespaces()
	b.addVolumes()
	b.addNodes()
	b.addPods()
	b.addWorkloads()
	b.addServices()
	b.addBudgets()
	if b.s.TakenAt.IsZero() {
		b.s.TakenAt = newestTimestamp(o)
	}
	b.s.TakenAt = b.s.TakenAt.UTC()
	b.addDepartures()
	if u := cmp.Or(o.Usage, o.usageOfMetrics()); u != nil {
		b.s.Usage = b.s.resolveUsage(u)
	}
	return b.s, b.joinedErrors()
}

type builder struct {
	o        *Objects
	s        *Snapshot
	index    *Indexer
	podIndex *PodIndex
	errs     []error
}

// maxErrors limits how many errors a message lists. If a user passes the same file twice, every
// object is a duplicate.
const maxErrors = 5

func (b *builder) joinedErrors() error {
	if n := len(b.errs) - maxErrors; n > 0 {
		return errors.Join(append(b.errs[:maxErrors:maxErrors], fmt.Errorf("... and %d more errors; was the same file given twice?", n))...)
	}
	return errors.Join(b.errs...)
}

func (b *builder) addError(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(format, args...))
}

func (b *builder) parseVersion() {
	v, err := b.o.version()
	if err != nil {
		b.addError("server version %q is not major.minor, such as 1.37", b.o.ServerVersion)
		return
	}
	b.s.VersionUnknown = b.o.ServerVersion == "" && b.o.kubeletVersion() == ""
	b.s.ServerMajor, b.s.ServerMinor = int(v.Major()), int(v.Minor())
	b.s.Scheduler = b.o.Features()
}

func (o *Objects) version() (*version.Version, error) {
	return version.ParseGeneric(cmp.Or(o.ServerVersion, o.kubeletVersion(), defaultServerVersion))
}

// kubeletVersion returns the major.minor of the oldest kubelet, or "" if a node does not report its version. The server
// is at least as new.
func (o *Objects) kubeletVersion() string {
	var oldest *version.Version
	for _, n := range o.Nodes {
		v, err := version.ParseGeneric(n.Status.NodeInfo.KubeletVersion)
		if err != nil {
			return ""
		}
		if oldest == nil || v.LessThan(oldest) {
			oldest = v
		}
	}
	if oldest == nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", oldest.Major(), oldest.Minor())
}

// Features returns what the scheduler of the server's version does. If the version cannot be parsed, Features returns
// those of the newest known version, and so it does if the version is missing.
func (o *Objects) Features() kubeversion.Features {
	v, err := o.version()
	if err != nil {
		return kubeversion.Of(kubeversion.Newest)
	}
	return kubeversion.Of(int(v.Minor()))
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

func (b *builder) addVolumes() {
	b.s.claimByKey = make(map[string]*corev1.PersistentVolumeClaim, len(b.o.PersistentVolumeClaims))
	for _, c := range b.o.PersistentVolumeClaims {
		key := c.Namespace + "/" + c.Name
		if b.s.claimByKey[key] != nil {
			b.addError("PersistentVolumeClaim %s occurs twice in the snapshot", key)
		}
		b.s.claimByKey[key] = c
	}
	b.s.volumeByName = make(map[string]*corev1.PersistentVolume, len(b.o.PersistentVolumes))
	for _, pv := range b.o.PersistentVolumes {
		b.s.volumeByName[pv.Name] = pv
	}
}

func (b *builder) addNodes() {
	for _, n := range sortedByName(b.o.Nodes) {
		if _, twice := b.s.nodeByName[n.Name]; twice {
			b.addError("Node %s occurs twice in the snapshot", n.Name)
			continue
		}
		id := NodeID(len(b.s.Nodes))
		b.s.nodeByName[n.Name] = id
		allocatable := ResourcesOf(n.Status.Allocatable)
		b.s.Nodes = append(b.s.Nodes, Node{
			ID: id, Object: n, Name: n.Name, Ready: NodeReady(n), Allocatable: allocatable,
			Physical: PhysicalOf(allocatable, ResourcesOf(n.Status.Capacity)), AllowedPods: n.Status.Allocatable.Pods().Value(),
		})
	}
}

// NodeReady reports whether the node's Ready condition is true.
func NodeReady(n *corev1.Node) bool { return HasCondition(n, corev1.NodeReady) }

// HasCondition reports whether a condition of the node is true.
func HasCondition(n *corev1.Node, of corev1.NodeConditionType) bool {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == of {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// addDepartures sets the Departure of every bound pod, and what leaves each node. It needs TakenAt.
func (b *builder) addDepartures() {
	newest := map[string]*corev1.Pod{} // by the UID of a DaemonSet, of one node
	for i := range b.s.Nodes {
		n := &b.s.Nodes[i]
		clear(newest)
		twice := false
		for _, id := range n.Pods {
			p := &b.s.Pods[id]
			switch of := daemonSetOf(p); {
			case p.Terminating:
				b.depart(n, p, b.departure(n, p.Object))
			case of == "":
			case newest[of] == nil:
				newest[of] = p.Object
			default:
				twice = true
				if replaces(p.Object, newest[of]) {
					newest[of] = p.Object
				}
			}
		}
		if !twice {
			continue
		}
		for _, id := range n.Pods {
			p := &b.s.Pods[id]
			if of := daemonSetOf(p); of != "" && !p.Terminating && replaces(newest[of], p.Object) {
				b.depart(n, p, Leaves)
			}
		}
	}
	for i := range b.s.Pods {
		if n := b.s.NominatedNode(&b.s.Pods[i]); n != nil {
			b.s.changesUnderWay = true
		}
	}
}

// replaces reports whether p is newer than q, or as old with a later name: times have a resolution of one second, and
// of two pods of a DaemonSet on one node only one stays.
func replaces(p, q *corev1.Pod) bool {
	return cmp.Or(p.CreationTimestamp.Compare(q.CreationTimestamp.Time), strings.Compare(p.Name, q.Name)) > 0
}

// daemonSetOf returns the UID of the DaemonSet of a pod, or "".
func daemonSetOf(p *Pod) string {
	if p.Ordinary || p.Controller == nil || p.Controller.Kind != "DaemonSet" {
		return ""
	}
	return string(p.Controller.UID)
}

func (b *builder) departure(n *Node, p *corev1.Pod) Departure {
	if !n.Ready || b.s.TakenAt.Sub(p.DeletionTimestamp.Time) > overdueAfter {
		return Overdue
	}
	return Leaves
}

func (b *builder) depart(n *Node, p *Pod, d Departure) {
	p.Departure, b.s.changesUnderWay = d, true
	if d == Leaves {
		n.Leaving.Add(p.Requests)
		n.LeavingPods++
	}
}

// NominatedNode returns the node on which preemption has made room for the unbound pod, or nil.
func (s *Snapshot) NominatedNode(p *Pod) *Node {
	if p.Node != NoNode || p.Terminal || p.Terminating || p.Object.Status.NominatedNodeName == "" {
		return nil
	}
	return s.NodeByName(p.Object.Status.NominatedNodeName)
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

// recordUnattempted updates Unattempted. A pod that a scheduler has tried to place has a
// PodScheduled condition, and so has a pod with a scheduling gate.
func (b *builder) recordUnattempted(p *Pod) {
	o := p.Object
	if o.Spec.NodeName != "" || p.Terminating || p.Terminal || o.CreationTimestamp.IsZero() || mayBeHeldBack(&o.Spec) {
		return
	}
	if slices.ContainsFunc(o.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }) {
		return
	}
	name := cmp.Or(o.Spec.SchedulerName, corev1.DefaultSchedulerName)
	if b.s.Unattempted == nil {
		b.s.Unattempted = map[string][]PodID{}
	}
	b.s.Unattempted[name] = append(b.s.Unattempted[name], p.ID)
}

// mayBeHeldBack reports whether a PreEnqueue plugin of kube-scheduler may keep the pod out of the
// scheduling queue. The plugins are SchedulingGates, DynamicResources (a claim does not exist yet),
// GangScheduling (the group is incomplete) and DefaultPreemption (only pods that were tried before).
// They record no condition.
func mayBeHeldBack(s *corev1.PodSpec) bool {
	return len(s.SchedulingGates) > 0 || len(s.ResourceClaims) > 0 || s.SchedulingGroup != nil
}

func podReady(p *corev1.Pod) bool {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	return i >= 0 && p.Status.Conditions[i].Status == corev1.ConditionTrue
}

// newestTimestamp returns the newest timestamp in the objects.
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
	for _, m := range o.NodeMetrics {
		see(m.Timestamp)
	}
	return t
}
