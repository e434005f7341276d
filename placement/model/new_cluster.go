package model

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// NewCluster returns the model of a snapshot in which each pod is on the node that
// the snapshot names. profiles are those of the schedulers, by schedulerName.
func NewCluster(s *cluster.Snapshot, profiles map[string]scheduler.Profile) *Cluster {
	w := &Cluster{
		Snap:               s,
		PodNode:            make([]cluster.NodeID, len(s.Pods)),
		PodClass:           make([]*EquivalenceClass, len(s.Pods)),
		ClassesByNamespace: map[string][]*EquivalenceClass{},
		ClassesByLabel:     map[labelKey]map[string][]*EquivalenceClass{},
		NodesWithKeys:      map[string][]bool{},
		Requests:           make([]NodeRequests, len(s.Nodes)),
		Topologies:         map[string]*Topology{},
		SpreadCounters:     map[string]*PodCounter{},
		TermCounters:       map[string]*PodCounter{},
		TermsByID:          map[string]*ExistingTerm{},
		NamespaceLabels:    map[string]labels.Set{},
		Ports:              make(PortTable, len(s.Nodes)),
		Disks:              volume.NewDiskTable(),
		Storage:            volume.NewStorage(s),
	}
	readNodes(w)
	compileProfiles(w, profiles)
	indexOwners(w)
	groupPods(w)
	w.Attachments = volume.NewAttachments(w.Storage)
	indexNominated(w)
	for i := range s.Pods {
		p := &s.Pods[i]
		w.PodNode[i] = cluster.NoNode
		if p.Node != cluster.NoNode && !p.Terminal {
			w.AdjustPod(p.ID, p.Node, 1)
			w.PodNode[i] = p.Node
		}
	}
	return w
}

// readNodes notes what each node can allocate, and a node that is not ready.
func readNodes(w *Cluster) {
	for i := range w.Snap.Nodes {
		n := &w.Snap.Nodes[i]
		w.Requests[i].AllocatableMilliCPU, w.Requests[i].AllocatableBytes = n.Allocatable.MilliCPU, n.Allocatable.MemoryBytes
		if !n.Ready && w.NotReadyNode == "" {
			w.NotReadyNode = n.Name
		}
	}
}

// compileProfiles makes the options' profiles ready.
func compileProfiles(w *Cluster, profiles map[string]scheduler.Profile) {
	w.Profiles = make(map[string]*scheduler.Compiled, len(profiles)+1)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[name]
		w.Profiles[name] = scheduler.Compile(name, p)
		if p.Packing != nil && w.Packing == nil {
			w.Packing = newPacking(w.Snap)
			w.Packing.defaultArgs = p.Packing
		}
	}
	if w.Profiles[corev1.DefaultSchedulerName] == nil {
		w.Profiles[corev1.DefaultSchedulerName] = scheduler.Compile(corev1.DefaultSchedulerName, scheduler.DefaultProfile())
	}
}

// indexNominated finds the pods that wait for a node which preemption has
// cleared for them.
func indexNominated(w *Cluster) {
	w.Nominated = map[cluster.NodeID][]cluster.PodID{}
	for i := range w.Snap.Pods {
		p := &w.Snap.Pods[i]
		if p.Terminal || p.Terminating || p.Node != cluster.NoNode || p.Object.Status.NominatedNodeName == "" {
			continue
		}
		if n := w.Snap.NodeByName(p.Object.Status.NominatedNodeName); n != nil {
			w.Nominated[n.ID] = append(w.Nominated[n.ID], p.ID)
		}
	}
}

// groupPods puts every pod that is not terminal into its class.
func groupPods(w *Cluster) {
	byKey, latest := map[string]*EquivalenceClass{}, make([]*EquivalenceClass, len(w.Snap.Workloads))
	var key []byte
	for i := range w.Snap.Pods {
		p := &w.Snap.Pods[i]
		if p.Terminal {
			continue
		}
		if p.Workload != cluster.NoWorkload {
			if c := latest[p.Workload]; c != nil && w.Packing == nil && sameClass(p, c) {
				c.pods = append(c.pods, p.ID)
				w.PodClass[i] = c
				continue
			}
		}
		key = appendKey(key[:0], p)
		if w.Packing != nil {
			key = binary.AppendVarint(key, expectedMilliCPU(w, p))
		}
		c := byKey[string(key)]
		if c == nil {
			c = newClass(w, p)
			c.Number = len(w.ClassList)
			byKey[string(key)] = c
			w.ClassList = append(w.ClassList, c)
			w.ClassesByNamespace[c.Namespace] = append(w.ClassesByNamespace[c.Namespace], c)
			w.registerTerms(c)
			if _, known := w.NamespaceLabels[c.Namespace]; !known && w.UnknownNamespace == "" {
				w.UnknownNamespace = c.Namespace
			}
		}
		c.pods = append(c.pods, p.ID)
		w.PodClass[i] = c
		if p.Workload != cluster.NoWorkload {
			latest[p.Workload] = c
		}
	}
}

func newClass(w *Cluster, p *cluster.Pod) *EquivalenceClass {
	c := &EquivalenceClass{
		Namespace: p.Object.Namespace, Labels: labels.Set(p.Object.Labels), Sample: p,
		Profile: w.ProfileOf(p.Object.Spec.SchedulerName), Priority: priorityOf(p.Object),
		Simple: hasSimpleSpec(&p.Object.Spec), Ports: hostPorts(&p.Object.Spec), Disks: volume.ExclusiveDisks(&p.Object.Spec),
	}
	if w.Packing != nil {
		c.ExpectedMilliCPU = expectedMilliCPU(w, p)
	}
	for i := range p.Object.Spec.Volumes {
		if v := p.Object.Spec.Volumes[i].PersistentVolumeClaim; v != nil {
			c.Claims = append(c.Claims, v.ClaimName)
		}
	}
	return c
}

// expectedMilliCPU is the milliCPU expected of a pod: of each container its limit, else
// its request times the factor, else the default; and the overhead. Where several
// profiles pack, the pod's own decides; for pods of other schedulers any does.
func expectedMilliCPU(w *Cluster, p *cluster.Pod) int64 {
	t := w.ProfileOf(p.Object.Spec.SchedulerName).Packing
	if t == nil {
		t = w.Packing.defaultArgs
	}
	spec := &p.Object.Spec
	sum := spec.Overhead.Cpu().MilliValue()
	for i := range spec.Containers {
		r := &spec.Containers[i].Resources
		if limit, ok := r.Limits[corev1.ResourceCPU]; ok {
			sum += limit.MilliValue()
		} else if request, ok := r.Requests[corev1.ResourceCPU]; ok {
			sum += int64(math.Round(float64(request.MilliValue()) * t.Factor))
		} else {
			sum += t.DefaultMilliCPU
		}
	}
	return sum
}

// indexOwners prepares what is looked up by name.
func indexOwners(w *Cluster) {
	w.Services = map[string][]*corev1.Service{}
	for i := range w.Snap.Services {
		if o := w.Snap.Services[i].Object; o != nil && o.Spec.Selector != nil {
			w.Services[o.Namespace] = append(w.Services[o.Namespace], o)
		}
	}
	w.owners = map[ownerKey]Owner{}
	if w.Snap.Objects != nil {
		for _, ns := range w.Snap.Objects.Namespaces {
			w.NamespaceLabels[ns.Name] = labels.Set(ns.Labels)
		}
		addOwners(w, w.Snap.Objects)
	}
}

func addOwners(w *Cluster, o *cluster.Objects) {
	for _, rc := range o.ReplicationControllers {
		own := Owner{Selector: labels.SelectorFromSet(rc.Spec.Selector)}
		if rc.Spec.Template != nil {
			own.Template = &rc.Spec.Template.Spec
		}
		w.owners[ownerKey{"v1", "ReplicationController", rc.Namespace, rc.Name}] = own
	}
	for _, rs := range o.ReplicaSets {
		sel, _ := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
		w.owners[ownerKey{"apps/v1", "ReplicaSet", rs.Namespace, rs.Name}] = Owner{Selector: sel, Template: &rs.Spec.Template.Spec}
	}
	for _, ss := range o.StatefulSets {
		sel, _ := metav1.LabelSelectorAsSelector(ss.Spec.Selector)
		w.owners[ownerKey{"apps/v1", "StatefulSet", ss.Namespace, ss.Name}] = Owner{Selector: sel, Template: &ss.Spec.Template.Spec, WaitsForVictim: true}
	}
	for _, j := range o.Jobs {
		w.owners[ownerKey{"batch/v1", "Job", j.Namespace, j.Name}] = Owner{Template: &j.Spec.Template.Spec, WaitsForVictim: jobWaitsForVictim(j)}
	}
}
