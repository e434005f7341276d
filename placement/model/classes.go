package model

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// EquivalenceClass is a set of pods that the scheduler cannot tell apart: the same
// scheduler, namespace, labels, owner, requests, affinity, tolerations, spread,
// images, volumes, ports and priority.
type EquivalenceClass struct {
	Number           int // in World.classes
	Namespace        string
	Labels           labels.Set
	Sample           *cluster.Pod
	Profile          *scheduler.Compiled
	ExpectedMilliCPU int64 // milliCPU that TargetLoadPacking expects of it; 0 without such a profile
	pods             []cluster.PodID
	Priority         int32
	Ports            []HostPort
	Disks            []volume.Disk
	Claims           []string      // names of claims, one entry per volume
	SpreadCounters   []*PodCounter // counters of topology spread that count its pods
	TermCounters     []*PodCounter // counters of inter-pod affinity that count its pods
	KnownSupported   bool          // neither its owner nor what its pods ask for is in the way of foretelling
	Simple           bool          // see alike
	TemplateRequests *cluster.Resources
}

// groupPods puts every pod that is not terminal into its class.
func (w *Cluster) groupPods() {
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
			c = w.newClass(p)
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

func (w *Cluster) newClass(p *cluster.Pod) *EquivalenceClass {
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

// appendKey appends everything of the pod that the scheduler looks at. Fields
// are length-prefixed, so that no two pods share a key by accident.
func appendKey(b []byte, p *cluster.Pod) []byte {
	spec := &p.Object.Spec
	b = AppendText(b, p.Object.Namespace)
	b = AppendMap(b, p.Object.Labels)
	if c := p.Controller; c != nil {
		b = AppendText(AppendText(AppendText(b, c.APIVersion), c.Kind), c.Name)
	} else {
		b = append(b, 0)
	}
	b = appendAmounts(b, p.Requests)
	b = appendAmounts(b, p.NonZero)
	b = AppendMap(b, spec.NodeSelector)
	if spec.Affinity != nil {
		b = AppendMessage(b, spec.Affinity)
	} else {
		b = append(b, 0)
	}
	b = binary.AppendVarint(b, int64(len(spec.Tolerations)))
	for i := range spec.Tolerations {
		b = AppendMessage(b, &spec.Tolerations[i])
	}
	b = binary.AppendVarint(b, int64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		b = AppendMessage(b, &spec.TopologySpreadConstraints[i])
	}
	for _, cs := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		b = binary.AppendVarint(b, int64(len(cs)))
		for i := range cs {
			b = AppendText(b, cs[i].Image)
		}
	}
	return appendRareFields(b, p)
}

func AppendText(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

func AppendMap(b []byte, m map[string]string) []byte {
	b = binary.AppendVarint(b, int64(len(m)))
	var buf [16]string // nearly always enough: pods come by the hundred thousand
	keys := buf[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = AppendText(AppendText(b, k), m[k])
	}
	return b
}

func appendAmounts(b []byte, r cluster.Resources) []byte {
	for _, v := range [...]int64{r.MilliCPU, r.MemoryBytes, r.EphemeralStorageByte, int64(len(r.Extended))} {
		b = binary.AppendVarint(b, v)
	}
	if len(r.Extended) == 0 {
		return b
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extended)) {
		b = binary.AppendVarint(AppendText(b, string(name)), r.Extended[name])
	}
	return b
}

// AppendMessage appends an API message in its protobuf form, which sorts maps.
func AppendMessage(b []byte, m interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}) []byte {
	size := m.Size()
	b = binary.AppendVarint(b, int64(size)+1)
	from := len(b)
	b = slices.Grow(b, size)[:from+size]
	if _, err := m.MarshalToSizedBuffer(b[from:]); err != nil { // never for API types; the text form still tells them apart
		b = fmt.Appendf(b[:from], "%v", m)
	}
	return b
}
