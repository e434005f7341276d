package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
	"math"
	"time"
)

// measurementDelay is how long before the end of a node's measurement a pod must
// have been bound for its usage to be in it (trimaran, the metrics agents'
// reporting interval).
const measurementDelay = 60 * time.Second

// PackingState is what TargetLoadPacking knows of the nodes.
type PackingState struct {
	HasMeasurements bool // the snapshot has any NodeMetrics, or Usage
	Nodes           []NodeMeasurement
	// defaultArgs are those of the first packing profile by name, for what is expected
	// of pods that other schedulers bind: each scheduler sees all pods.
	defaultArgs *scheduler.TargetLoadPacking
}

type NodeMeasurement struct {
	Measured           bool
	UsedMilliCPU       int64
	CapacityMilliCPU   int64 // of status.capacity, which load-watcher relates usage to
	measuredUntil      time.Time
	UnmeasuredMilliCPU int64 // expected of pods whose usage is not measured yet
}

func newPacking(s *cluster.Snapshot) *PackingState {
	k := &PackingState{Nodes: make([]NodeMeasurement, len(s.Nodes))}
	for i := range s.Nodes {
		k.Nodes[i].CapacityMilliCPU = s.Nodes[i].Object.Status.Capacity.Cpu().MilliValue()
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
		x.Measured, x.UsedMilliCPU, x.measuredUntil = true, cpu.MilliValue(), m.Timestamp.Time
		k.HasMeasurements = true
	}
	if !k.HasMeasurements && s.Objects.Usage != nil {
		k.readUsage(s, s.Objects.Usage)
	}
	return k
}

// readUsage takes what a source of usage measured. All of it ends with the oldest of the
// newest measurements, as what GET /watcher serves does.
func (k *PackingState) readUsage(s *cluster.Snapshot, u *cluster.Usage) {
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

// adjust adds or takes away a pod's expected milliCPU, unless its usage is in the
// node's measurement. A pod that was moved is measured nowhere.
func (k *PackingState) adjust(p *cluster.Pod, n cluster.NodeID, milliCPU int64) {
	x := &k.Nodes[n]
	if n != p.Node || boundAt(p.Object).After(x.measuredUntil.Add(-measurementDelay)) {
		x.UnmeasuredMilliCPU += milliCPU
	}
}

// boundAt is when the pod was bound to its node, as far as it is known.
func boundAt(p *corev1.Pod) time.Time {
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
