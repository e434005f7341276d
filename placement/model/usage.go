package model

import (
	"encoding/binary"
	"slices"
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

// newPacking reads the usage of the nodes.
func newPacking(s *cluster.Snapshot) *PackingUsage {
	k := &PackingUsage{Nodes: make([]NodeMeasurement, len(s.Nodes))}
	k.HasMeasurements = readUsage(s, func(n *cluster.Node, u cluster.NodeUsage) bool {
		milliCPU, has := u.Used[string(corev1.ResourceCPU)]
		capacity := cluster.MilliCPU(n.Object.Status.Capacity.Cpu())
		if !has || milliCPU < 0 || capacity <= 0 {
			return false
		}
		x := &k.Nodes[n.ID]
		x.Measured, x.UsedMilliCPU, x.CapacityMilliCPU, x.measuredUntil = true, milliCPU, capacity, u.At
		return true
	})
	return k
}

// readUsage calls f with the usage of each node that NodeMetrics have, and reports whether f used some. If f used none,
// it calls f with the usage from a usage source. Usage without a time is unknown. As in the answer of load-watcher's
// GET /watcher, all measurements of a source end at the same time: the oldest time among the nodes.
func readUsage(s *cluster.Snapshot, f func(n *cluster.Node, u cluster.NodeUsage) bool) bool {
	if s.Objects == nil {
		return false
	}
	use := func(list []cluster.NodeUsage) (some bool) {
		for _, u := range list {
			if n := s.NodeByName(u.Name); n != nil && !u.At.IsZero() {
				some = f(n, u) || some
			}
		}
		return some
	}
	some := use(s.Objects.NodeUsageOfMetrics())
	if source := s.Objects.Usage; !some && source != nil {
		list := slices.DeleteFunc(slices.Clone(source.Nodes), func(u cluster.NodeUsage) bool { return u.At.IsZero() })
		if len(list) == 0 {
			return false
		}
		end := slices.MinFunc(list, func(a, b cluster.NodeUsage) int { return a.At.Compare(b.At) }).At
		for i := range list {
			list[i].At = end
		}
		some = use(list)
	}
	return some
}

// adjust adds or subtracts a pod's expected milliCPU on a node, unless the node's measurement
// includes the pod. Measurements never include a pod that the model has moved.
func (k *PackingUsage) adjust(p *cluster.Pod, n cluster.NodeID, milliCPU int64) {
	x := &k.Nodes[n]
	if n != p.Node || cluster.BindTime(p.Object).After(x.measuredUntil.Add(-measurementDelay)) {
		x.UnmeasuredMilliCPU = cluster.BoundedSum(x.UnmeasuredMilliCPU, milliCPU)
	}
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

// newRisk reads the usage of the nodes. NodeMetrics have no deviation.
func newRisk(s *cluster.Snapshot) *RiskUsage {
	k := &RiskUsage{Nodes: make([]NodeRisk, len(s.Nodes))}
	k.HasMeasurements = readUsage(s, func(n *cluster.Node, u cluster.NodeUsage) bool {
		capacity, x := cluster.ResourcesOf(n.Object.Status.Capacity), &k.Nodes[n.ID]
		x.CPU = statisticsOf(&u, corev1.ResourceCPU, capacity.MilliCPU)
		x.Memory = statisticsOf(&u, corev1.ResourceMemory, capacity.MemoryBytes)
		x.Measured = x.CPU.Known || x.Memory.Known
		return x.Measured
	})
	return k
}

func statisticsOf(u *cluster.NodeUsage, resource corev1.ResourceName, capacity int64) UsageStatistics {
	mean, known := u.Used[string(resource)]
	if !known || mean < 0 || capacity <= 0 {
		return UsageStatistics{}
	}
	deviation := u.Deviation[string(resource)]
	return UsageStatistics{true, float64(mean) / float64(capacity), float64(deviation) / float64(capacity)}
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
