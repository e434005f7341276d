package model

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// NewCluster builds the model of a snapshot, with each pod on its node in the snapshot. profiles
// are the schedulers' profiles by schedulerName.
func NewCluster(s *cluster.Snapshot, profiles map[string]scheduler.Profile) *Cluster {
	m := &Cluster{
		Snap:               s,
		PodNode:            make([]cluster.NodeID, len(s.Pods)),
		PodClass:           make([]*EquivalenceClass, len(s.Pods)),
		classesByNamespace: map[string][]*EquivalenceClass{},
		classesByLabel:     map[labelKey]map[string][]*EquivalenceClass{},
		NodesWithKeys:      map[string][]bool{},
		Requests:           make([]nodeRequests, len(s.Nodes)),
		Topologies:         map[string]*Topology{},
		spreadCounters:     map[string]*PodCounter{},
		termCounters:       map[string]*PodCounter{},
		termsByID:          map[string]*ExistingTerms{},
		NamespaceLabels:    map[string]labels.Set{},
		Ports:              make(PortTable, len(s.Nodes)),
		Disks:              volume.NewDiskTable(),
		Storage:            volume.NewStorage(s),
	}
	readNodes(m)
	compileProfiles(m, profiles)
	indexOwners(m)
	m.ReadsCopiedLabels = readsCopiedLabels(m)
	groupPods(m)
	m.Attachments = volume.NewAttachments(m.Storage)
	indexNominated(m)
	for i := range s.Pods {
		p := &s.Pods[i]
		m.PodNode[i] = cluster.NoNode
		if p.Node != cluster.NoNode && !p.Terminal {
			m.AdjustPod(p.ID, p.Node, 1)
			m.PodNode[i] = p.Node
		}
	}
	return m
}

// readNodes stores the allocatable resources of each node, and the first node that is not ready.
func readNodes(m *Cluster) {
	for i := range m.Snap.Nodes {
		n := &m.Snap.Nodes[i]
		m.Requests[i].AllocatableMilliCPU, m.Requests[i].AllocatableBytes = n.Allocatable.MilliCPU, n.Allocatable.MemoryBytes
		if !n.Ready && m.NotReadyNode == "" {
			m.NotReadyNode = n.Name
		}
	}
}

// compileProfiles compiles the profiles, and adds the default profile if default-scheduler has
// none.
func compileProfiles(m *Cluster, profiles map[string]scheduler.Profile) {
	m.profiles = make(map[string]*scheduler.Compiled, len(profiles)+1)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[name]
		m.profiles[name] = scheduler.Compile(name, p)
		if p.Packing != nil && m.Packing == nil {
			m.Packing = newPacking(m.Snap)
			m.Packing.defaultArgs = p.Packing
		}
		if p.ScoresRisk() && m.Risk == nil {
			m.Risk = newRisk(m.Snap)
		}
	}
	if m.profiles[corev1.DefaultSchedulerName] == nil {
		m.profiles[corev1.DefaultSchedulerName] = scheduler.Compile(corev1.DefaultSchedulerName, scheduler.DefaultProfile())
	}
}

// indexNominated indexes the unbound pods by status.nominatedNodeName: the node on which preemption
// has made room for the pod.
func indexNominated(m *Cluster) {
	m.Nominated = map[cluster.NodeID][]cluster.PodID{}
	for i := range m.Snap.Pods {
		p := &m.Snap.Pods[i]
		if n := m.Snap.NominatedNode(p); n != nil {
			m.Nominated[n.ID] = append(m.Nominated[n.ID], p.ID)
		}
	}
}

// groupPods assigns a class to each pod. Pods of one template have one class, unless a profile reads measurements or a
// selector reads copied labels.
func groupPods(m *Cluster) {
	byKey, byTemplate := map[string]*EquivalenceClass{}, m.Packing == nil && m.Risk == nil && !m.ReadsCopiedLabels
	for run := range m.Snap.TemplateRuns() {
		var c *EquivalenceClass
		for i := range run {
			p := &run[i]
			switch {
			case p.Terminal:
				continue
			case c == nil || !byTemplate:
				key := m.keyOf(p, byTemplate)
				if c = byKey[key]; c == nil {
					c = newClass(m, p)
					byKey[key] = c
					m.addClass(c)
				}
			}
			c.pods = append(c.pods, p.ID)
			m.PodClass[p.ID] = c
		}
	}
}

// keyOf returns the key of appendClassKey. If all pods of the template have the same, the template keeps it.
func (m *Cluster) keyOf(p *cluster.Pod, byTemplate bool) string {
	key, known := p.Template.ClassKey.Load().(string)
	if !known || !byTemplate {
		if key = string(m.appendClassKey(nil, p)); byTemplate {
			p.Template.ClassKey.Store(key)
		}
	}
	return key
}

// appendClassKey appends everything by which a scheduler can tell the pod from others.
func (m *Cluster) appendClassKey(b []byte, p *cluster.Pod) []byte {
	b = appendKey(b, p, labelsOf(m, p))
	if m.Packing != nil {
		b = binary.AppendVarint(b, expectedMilliCPU(m, p))
	}
	if m.Risk != nil {
		b = riskAmounts(p.Object).appendKey(b)
	}
	return b
}

func (m *Cluster) addClass(c *EquivalenceClass) {
	c.Number = len(m.ClassList)
	m.ClassList = append(m.ClassList, c)
	m.classesByNamespace[c.Namespace] = append(m.classesByNamespace[c.Namespace], c)
	m.registerTerms(c)
	if _, known := m.NamespaceLabels[c.Namespace]; !known && m.UnknownNamespace == "" {
		m.UnknownNamespace = c.Namespace
	}
}

func newClass(m *Cluster, p *cluster.Pod) *EquivalenceClass {
	c := &EquivalenceClass{
		Namespace: p.Object.Namespace, Labels: labelsOf(m, p), Sample: p,
		Profile: m.ProfileOf(p.Object.Spec.SchedulerName), Priority: ptr.Deref(p.Object.Spec.Priority, 0),
		Ports: hostPorts(&p.Object.Spec), Disks: volume.ExclusiveDisks(&p.Object.Spec),
	}
	c.owner, _ = m.OwnerOf(p)
	c.ReplacedAfterGone = c.owner.WaitsForVictim || p.Controller != nil && p.Controller.Kind == "StatefulSet"
	if m.Packing != nil {
		c.ExpectedMilliCPU = expectedMilliCPU(m, p)
	}
	if m.Risk != nil {
		c.RiskAmounts = riskAmounts(p.Object)
	}
	for i := range p.Object.Spec.Volumes {
		if v := p.Object.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
			c.Claims = append(c.Claims, v.ClaimName)
		}
	}
	return c
}

// expectedMilliCPU returns the milliCPU that TargetLoadPacking expects a pod to use. A container is
// expected to use its limit, else its request times Factor, else DefaultMilliCPU. The pod's
// overhead is added. Factor and DefaultMilliCPU come from the pod's own profile, or else from the
// first profile with TargetLoadPacking.
func expectedMilliCPU(m *Cluster, p *cluster.Pod) int64 {
	t := m.ProfileOf(p.Object.Spec.SchedulerName).Packing
	if t == nil {
		t = m.Packing.defaultArgs
	}
	spec := &p.Object.Spec
	sum := cluster.MilliCPU(spec.Overhead.Cpu())
	for i := range spec.Containers {
		r := &spec.Containers[i].Resources
		if limit, ok := r.Limits[corev1.ResourceCPU]; ok {
			sum += cluster.MilliCPU(&limit)
		} else if request, ok := r.Requests[corev1.ResourceCPU]; ok {
			sum += int64(math.Round(float64(cluster.MilliCPU(&request)) * t.Factor))
		} else {
			sum += t.DefaultMilliCPU
		}
	}
	return sum
}

func indexOwners(m *Cluster) {
	m.Services = map[string][]*corev1.Service{}
	for i := range m.Snap.Services {
		if o := m.Snap.Services[i].Object; o != nil && o.Spec.Selector != nil {
			m.Services[o.Namespace] = append(m.Services[o.Namespace], o)
		}
	}
	if m.owners = map[ownerKey]Owner{}; m.Snap.Objects != nil {
		for _, ns := range m.Snap.Objects.Namespaces {
			m.NamespaceLabels[ns.Name] = labels.Set(ns.Labels)
		}
		addOwners(m, m.Snap.Objects)
	}
}

func addOwners(m *Cluster, o *cluster.Objects) {
	for _, rc := range o.ReplicationControllers {
		own := Owner{Selector: &metav1.LabelSelector{MatchLabels: rc.Spec.Selector}}
		if rc.Spec.Template != nil {
			own.Template = &rc.Spec.Template.Spec
		}
		m.owners[ownerKey{"v1", "ReplicationController", rc.Namespace, rc.Name}] = own
	}
	for _, rs := range o.ReplicaSets {
		m.owners[ownerKey{"apps/v1", "ReplicaSet", rs.Namespace, rs.Name}] = Owner{Selector: rs.Spec.Selector, Template: &rs.Spec.Template.Spec}
	}
	for _, ss := range o.StatefulSets {
		m.owners[ownerKey{"apps/v1", "StatefulSet", ss.Namespace, ss.Name}] = Owner{
			Selector: ss.Spec.Selector, Template: &ss.Spec.Template.Spec, WaitsForVictim: true}
	}
	for _, j := range o.Jobs {
		m.owners[ownerKey{"batch/v1", "Job", j.Namespace, j.Name}] = Owner{Template: &j.Spec.Template.Spec, WaitsForVictim: jobWaitsForVictim(j)}
	}
}

type ownerKey struct{ apiVersion, kind, namespace, name string }

// Owner holds the data of a pod's controller.
type Owner struct {
	Selector       *metav1.LabelSelector
	Template       *corev1.PodSpec
	WaitsForVictim bool // creates the replacement only after the victim is gone
}

// jobWaitsForVictim reports whether a Job replaces a pod only after the pod has ended. If a Job has
// a podFailurePolicy, its podReplacementPolicy defaults to Failed.
func jobWaitsForVictim(j *batchv1.Job) bool {
	if p := j.Spec.PodReplacementPolicy; p != nil {
		return *p == batchv1.Failed
	}
	return j.Spec.PodFailurePolicy != nil
}
