package model

import (
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
