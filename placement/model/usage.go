package model

import (
	"encoding/binary"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// measurementDelay is the reporting interval that trimaran assumes for metrics agents. A
// measurement includes a pod only if the pod was bound at least this long before the measurement
// ended.
const measurementDelay = 60 * time.Second

// PackingUsage holds the measured CPU usage that TargetLoadPacking reads.
type PackingUsage struct {
	HasMeasurements bool // the snapshot has NodeMetrics or Usage
	Nodes           []NodeMeasurement
	// defaultArgs are the arguments of the first profile, by name, that uses TargetLoadPacking. The
	// default arguments apply to pods of schedulers without TargetLoadPacking.
	defaultArgs *scheduler.TargetLoadPacking
}

// NodeMeasurement is the measured CPU usage of one node.
type NodeMeasurement struct {
	Measured           bool
	UsedMilliCPU       int64
	CapacityMilliCPU   int64 // from status.capacity, as in load-watcher
	measuredUntil      time.Time
	UnmeasuredMilliCPU int64 // expected usage of pods that the measurement does not include yet
}

// newPacking reads the usage of the nodes from NodeMetrics, or else from Usage.
func newPacking(s *cluster.Snapshot) *PackingUsage {
	k := &PackingUsage{Nodes: make([]NodeMeasurement, len(s.Nodes))}
	for i := range s.Nodes {
		k.Nodes[i].CapacityMilliCPU = cluster.MilliCPU(s.Nodes[i].Object.Status.Capacity.Cpu())
	}
	if s.Objects == nil {
		return k
	}
	for _, m := range s.Objects.NodeMetrics {
		node := s.NodeByName(m.Name)
		if node == nil {
			continue
		}
		cpu, has := m.Usage[corev1.ResourceCPU]
		x := &k.Nodes[node.ID]
		if !has || cpu.Sign() < 0 || x.CapacityMilliCPU <= 0 || x.Measured && m.Timestamp.Time.Before(x.measuredUntil) {
			continue
		}
		x.Measured, x.UsedMilliCPU, x.measuredUntil = true, cluster.MilliCPU(&cpu), m.Timestamp.Time
		k.HasMeasurements = true
	}
	if !k.HasMeasurements && s.Objects.Usage != nil {
		k.readUsage(s, s.Objects.Usage)
	}
	return k
}

// readUsage reads the usage from a usage source. As in the answer of load-watcher's GET /watcher,
// all measurements end at the same time: the oldest time among the nodes.
func (k *PackingUsage) readUsage(s *cluster.Snapshot, u *cluster.Usage) {
	var end time.Time
	for i := range u.Nodes {
		if at := u.Nodes[i].At; end.IsZero() || at.Before(end) {
			end = at
		}
	}
	for i := range u.Nodes {
		node := s.NodeByName(u.Nodes[i].Name)
		milliCPU, has := u.Nodes[i].Used[string(corev1.ResourceCPU)]
		if node == nil || !has || milliCPU < 0 || k.Nodes[node.ID].CapacityMilliCPU <= 0 {
			continue
		}
		x := &k.Nodes[node.ID]
		x.Measured, x.UsedMilliCPU, x.measuredUntil = true, milliCPU, end
		k.HasMeasurements = true
	}
}

// adjust adds or subtracts a pod's expected milliCPU on a node, unless the node's measurement
// includes the pod. Measurements never include a pod that the model has moved.
func (k *PackingUsage) adjust(p *cluster.Pod, n cluster.NodeID, milliCPU int64) {
	x := &k.Nodes[n]
	if n != p.Node || bindingTime(p.Object).After(x.measuredUntil.Add(-measurementDelay)) {
		x.UnmeasuredMilliCPU = cluster.BoundedSum(x.UnmeasuredMilliCPU, milliCPU)
	}
}

// bindingTime returns when the pod was bound to its node, or else when it started; the zero time if
// neither is known.
func bindingTime(p *corev1.Pod) time.Time {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return time.Time{}
}

// RiskUsage holds the measured usage of nodes, and the sums of requests and limits, that trimaran's plugins about risk
// read: LoadVariationRiskBalancing and LowRiskOverCommitment.
type RiskUsage struct {
	HasMeasurements bool // the snapshot has NodeMetrics or Usage
	Nodes           []NodeRisk
}

// NodeRisk is the usage of one node, and the sums over its pods.
type NodeRisk struct {
	Measured    bool
	CPU, Memory UsageStatistics
	Pods        RiskAmounts
}

// UsageStatistics are the mean and the standard deviation of a resource's usage, as fractions of status.capacity. They
// are known only if the source measures the resource.
type UsageStatistics struct {
	Known           bool
	Mean, Deviation float64
}

// RiskAmounts are the requests and limits of pods, in milliCPU and bytes. As in trimaran, a limit that is missing or
// lower than the request is replaced by the request.
type RiskAmounts struct {
	Requests, Limits CPUAndMemory
}

// CPUAndMemory are amounts in milliCPU and bytes.
type CPUAndMemory struct{ MilliCPU, Bytes int64 }

func (a *RiskAmounts) appendKey(key []byte) []byte {
	for _, x := range [...]int64{a.Requests.MilliCPU, a.Requests.Bytes, a.Limits.MilliCPU, a.Limits.Bytes} {
		key = binary.AppendVarint(key, x)
	}
	return key
}

// riskAmounts returns the amounts of one pod: the larger of the sum over its containers and of its largest init
// container, plus its overhead (pkg/trimaran/resourcestats.go of kubernetes-sigs/scheduler-plugins). Unlike the
// scheduler, trimaran does not know sidecars.
func riskAmounts(p *corev1.Pod) *RiskAmounts {
	a := &RiskAmounts{
		Requests: podAmounts(p, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests }),
		Limits:   podAmounts(p, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }),
	}
	a.Limits.MilliCPU = max(a.Limits.MilliCPU, a.Requests.MilliCPU)
	a.Limits.Bytes = max(a.Limits.Bytes, a.Requests.Bytes)
	return a
}

func podAmounts(p *corev1.Pod, of func(*corev1.ResourceRequirements) corev1.ResourceList) CPUAndMemory {
	var sum CPUAndMemory
	for i := range p.Spec.Containers {
		sum.add(of(&p.Spec.Containers[i].Resources))
	}
	for i := range p.Spec.InitContainers {
		var one CPUAndMemory
		one.add(of(&p.Spec.InitContainers[i].Resources))
		sum.MilliCPU, sum.Bytes = max(sum.MilliCPU, one.MilliCPU), max(sum.Bytes, one.Bytes)
	}
	sum.add(p.Spec.Overhead)
	return sum
}

func (a *CPUAndMemory) add(l corev1.ResourceList) {
	r := cluster.ResourcesOf(l)
	a.MilliCPU, a.Bytes = cluster.BoundedSum(a.MilliCPU, r.MilliCPU), cluster.BoundedSum(a.Bytes, r.MemoryBytes)
}

// newRisk reads the usage of the nodes from NodeMetrics, which have no deviation, or else from Usage.
func newRisk(s *cluster.Snapshot) *RiskUsage {
	k := &RiskUsage{Nodes: make([]NodeRisk, len(s.Nodes))}
	if s.Objects == nil {
		return k
	}
	for _, m := range s.Objects.NodeMetrics {
		if n := s.NodeByName(m.Name); n != nil {
			used := cluster.ResourcesOf(m.Usage)
			_, hasCPU := m.Usage[corev1.ResourceCPU]
			_, hasMemory := m.Usage[corev1.ResourceMemory]
			k.set(n, reading{used.MilliCPU, 0, hasCPU}, reading{used.MemoryBytes, 0, hasMemory})
		}
	}
	if k.HasMeasurements || s.Objects.Usage == nil {
		return k
	}
	for i := range s.Objects.Usage.Nodes {
		u := &s.Objects.Usage.Nodes[i]
		if n := s.NodeByName(u.Name); n != nil {
			k.set(n, readingOf(u, corev1.ResourceCPU), readingOf(u, corev1.ResourceMemory))
		}
	}
	return k
}

// reading is a measured mean with its deviation, in the unit of the resource.
type reading struct {
	mean, deviation int64
	known           bool
}

func readingOf(u *cluster.NodeUsage, resource corev1.ResourceName) reading {
	mean, known := u.Used[string(resource)]
	return reading{mean, u.Deviation[string(resource)], known}
}

// set stores the readings of a node, as fractions of its capacity.
func (k *RiskUsage) set(n *cluster.Node, cpu, memory reading) {
	capacity := cluster.ResourcesOf(n.Object.Status.Capacity)
	x := &k.Nodes[n.ID]
	x.CPU, x.Memory = cpu.fraction(capacity.MilliCPU), memory.fraction(capacity.MemoryBytes)
	x.Measured = x.CPU.Known || x.Memory.Known
	k.HasMeasurements = k.HasMeasurements || x.Measured
}

func (r reading) fraction(capacity int64) UsageStatistics {
	if !r.known || r.mean < 0 || capacity <= 0 {
		return UsageStatistics{}
	}
	return UsageStatistics{true, float64(r.mean) / float64(capacity), float64(r.deviation) / float64(capacity)}
}

// adjust adds the amounts of a pod to the sums of a node (by = 1), or subtracts them (by = -1).
func (k *RiskUsage) adjust(a *RiskAmounts, n cluster.NodeID, by int64) {
	sum := &k.Nodes[n].Pods
	sum.Requests.adjust(a.Requests, by)
	sum.Limits.adjust(a.Limits, by)
}

func (a *CPUAndMemory) adjust(b CPUAndMemory, by int64) {
	a.MilliCPU, a.Bytes = cluster.BoundedSum(a.MilliCPU, by*b.MilliCPU), cluster.BoundedSum(a.Bytes, by*b.Bytes)
}
