package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"math"
	"time"
)

// unsettledFor is how long before the end of a node's measurement a pod must
// have been bound for its usage to be in it (trimaran, the metrics agents'
// reporting interval).
const unsettledFor = 60 * time.Second

// PackingState is what TargetLoadPacking knows of the nodes.
type PackingState struct {
	known bool // the snapshot has any NodeMetrics, or Usage
	nodes []PackedNode
	// args are those of the first packing profile by name, for what is expected
	// of pods that other schedulers bind: each scheduler sees all pods.
	args *TargetLoadPacking
}

type PackedNode struct {
	measured          bool
	usedMilliCPU      int64
	capacityMilliCPU  int64 // of status.capacity, which load-watcher relates usage to
	end               time.Time
	unsettledMilliCPU int64 // expected of pods whose usage is not measured yet
}

func newPacking(s *cluster.Snapshot) *PackingState {
	k := &PackingState{nodes: make([]PackedNode, len(s.Nodes))}
	for i := range s.Nodes {
		k.nodes[i].capacityMilliCPU = s.Nodes[i].Object.Status.Capacity.Cpu().MilliValue()
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
		x := &k.nodes[node.ID]
		if !has || cpu.Sign() < 0 || x.capacityMilliCPU <= 0 || x.measured && m.Timestamp.Time.Before(x.end) {
			continue
		}
		x.measured, x.usedMilliCPU, x.end = true, cpu.MilliValue(), m.Timestamp.Time
		k.known = true
	}
	if !k.known && s.Objects.Usage != nil {
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
		if node == nil || !has || milliCPU < 0 || k.nodes[node.ID].capacityMilliCPU <= 0 {
			continue
		}
		x := &k.nodes[node.ID]
		x.measured, x.usedMilliCPU, x.end = true, milliCPU, end
		k.known = true
	}
}

// shift adds or takes away a pod's expected milliCPU, unless its usage is in the
// node's measurement. A pod that was moved is measured nowhere.
func (k *PackingState) shift(p *cluster.Pod, n cluster.NodeID, milliCPU int64) {
	x := &k.nodes[n]
	if n != p.Node || boundAt(p.Object).After(x.end.Add(-unsettledFor)) {
		x.unsettledMilliCPU += milliCPU
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
		t = w.Packing.args
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
