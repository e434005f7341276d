package placement

import (
	"math"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// StrategyType names how NodeResourcesFit scores.
type StrategyType string

const (
	LeastAllocated           StrategyType = "LeastAllocated"
	MostAllocated            StrategyType = "MostAllocated"
	RequestedToCapacityRatio StrategyType = "RequestedToCapacityRatio"
)

// ScoringStrategy is how NodeResourcesFit scores. The zero value is
// LeastAllocated over cpu and memory.
type ScoringStrategy struct {
	Type      StrategyType
	Resources []ResourceWeight // empty: cpu and memory, weight 1 each
	// Shape is the function of RequestedToCapacityRatio, by rising utilization.
	Shape []ShapePoint
}

// ResourceWeight is a resource with its weight, 1..100.
type ResourceWeight struct {
	Name   corev1.ResourceName
	Weight int64
}

// ShapePoint is one point of a function of the utilization in percent; Score is
// 0..10. Between points it is linear, beyond them level.
type ShapePoint struct{ Utilization, Score int64 }

// coreResources are cpu and memory alone.
var coreResources = []ResourceWeight{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

// plain reports whether it is LeastAllocated over cpu and memory alike.
func (s *ScoringStrategy) plain() bool {
	return (s.Type == "" || s.Type == LeastAllocated) && len(s.Resources) == 0
}

func (s *ScoringStrategy) resources() []ResourceWeight {
	if len(s.Resources) == 0 {
		return coreResources
	}
	return s.Resources
}

// scoreFit scores by the strategy of NodeResourcesFit. Where a container
// requests no cpu or memory the scheduler assumes 100m and 200Mi.
func (r *round) scoreFit(feasible []cluster.NodeID, out []int64) {
	pod, strategy := r.in.class.sample, &r.in.profile.Fit
	if !strategy.plain() {
		for i, n := range feasible {
			out[i] = r.w.weighted(strategy, pod, n)
		}
		return
	}
	for i, n := range feasible {
		l := &r.w.load[n]
		out[i] = leastAllocated(
			l.nonZeroMilliCPU+pod.NonZero.MilliCPU, l.allocatableMilliCPU,
			l.nonZeroBytes+pod.NonZero.MemoryBytes, l.allocatableBytes)
	}
}

// leastAllocated is the mean over cpu and memory of the free share in percent,
// each rounded down; a resource that the node does not have is left out.
func leastAllocated(cpu, cpuCap, mem, memCap int64) int64 {
	var sum, count int64
	for _, x := range [...][2]int64{{cpu, cpuCap}, {mem, memCap}} {
		if x[1] == 0 {
			continue
		}
		count++
		sum += freeShare(x[0], x[1])
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// freeShare is what is left of the capacity, in percent, rounded down.
func freeShare(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * maxScore / capacity
}

// weighted is the weighted mean of the resources' scores. A resource that the
// node does not have, or an extended one that the pod does not request, is left
// out; RequestedToCapacityRatio leaves out scores of 0 too, and rounds.
func (w *World) weighted(s *ScoringStrategy, pod *cluster.Pod, n cluster.NodeID) int64 {
	var sum, weights int64
	for _, x := range s.resources() {
		requested, capacity := w.requestedWith(pod, n, x.Name, true)
		if capacity == 0 {
			continue
		}
		score := s.score(requested, capacity)
		if s.Type == RequestedToCapacityRatio && score <= 0 {
			continue
		}
		sum += score * x.Weight
		weights += x.Weight
	}
	switch {
	case weights == 0:
		return 0
	case s.Type == RequestedToCapacityRatio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// score of one resource, 0..100.
func (s *ScoringStrategy) score(requested, capacity int64) int64 {
	switch s.Type {
	case MostAllocated:
		return min(requested, capacity) * maxScore / capacity
	case RequestedToCapacityRatio:
		return s.at(min(requested, capacity) * 100 / capacity)
	}
	return freeShare(requested, capacity)
}

// at is the value of the shape, whose scores of 0..10 are stretched to 0..100.
func (s *ScoringStrategy) at(utilization int64) int64 {
	const stretch = maxScore / 10
	for i, p := range s.Shape {
		if utilization > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score * stretch
		}
		q := s.Shape[i-1]
		return q.Score*stretch + (p.Score-q.Score)*stretch*(utilization-q.Utilization)/(p.Utilization-q.Utilization)
	}
	if len(s.Shape) == 0 {
		return 0
	}
	return s.Shape[len(s.Shape)-1].Score * stretch
}

// requestedWith returns how much of a resource would be requested on the node
// with the pod there, and how much there is; 0 and 0 for what is not to be
// scored. With assumed, cpu and memory are never unset.
func (w *World) requestedWith(pod *cluster.Pod, n cluster.NodeID, name corev1.ResourceName, assumed bool) (requested, capacity int64) {
	l := &w.load[n]
	switch name {
	case corev1.ResourceCPU:
		if assumed {
			return l.nonZeroMilliCPU + pod.NonZero.MilliCPU, l.allocatableMilliCPU
		}
		return l.milliCPU + pod.Requests.MilliCPU, l.allocatableMilliCPU
	case corev1.ResourceMemory:
		if assumed {
			return l.nonZeroBytes + pod.NonZero.MemoryBytes, l.allocatableBytes
		}
		return l.memory + pod.Requests.MemoryBytes, l.allocatableBytes
	case corev1.ResourceEphemeralStorage:
		return l.ephemeral + pod.Requests.EphemeralStorageByte, w.snap.Nodes[n].Allocatable.EphemeralStorageByte
	}
	own := pod.Requests.Extended[name]
	if own == 0 && scalar(name) {
		return 0, 0
	}
	return l.extended[name] + own, w.snap.Nodes[n].Allocatable.Extended[name]
}

// scalar reports whether a resource is one that is left out of a score when the
// pod does not request it: an extended one, huge pages, or an attach limit.
func scalar(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix)
}

// scoreBalanced is BalancedAllocation over the true requests: about 75 when the
// pod changes little, up to 100 when it levels the node. It does not score a pod
// that requests none of the resources.
func (r *round) scoreBalanced(feasible []cluster.NodeID, out []int64) {
	pod := r.in.class.sample
	if len(r.in.profile.Balanced) > 0 {
		r.scoreBalancedOver(r.in.profile.Balanced, feasible, out)
		return
	}
	if pod.Requests.MilliCPU == 0 && pod.Requests.MemoryBytes == 0 {
		return
	}
	for i, n := range feasible {
		l := &r.w.load[n]
		with := balance(l.milliCPU+pod.Requests.MilliCPU, l.allocatableMilliCPU, l.memory+pod.Requests.MemoryBytes, l.allocatableBytes)
		without := balance(l.milliCPU, l.allocatableMilliCPU, l.memory, l.allocatableBytes)
		out[i] = levelled(with, without)
	}
}

func levelled(with, without int64) int64 { return maxScore/2 + (maxScore/2+with-without)/2 }

func (r *round) scoreBalancedOver(resources []corev1.ResourceName, feasible []cluster.NodeID, out []int64) {
	pod, none := r.in.class.sample, true
	for _, name := range resources {
		none = none && amount(&pod.Requests, name) == 0
	}
	if none {
		return
	}
	var with, without []float64
	for i, n := range feasible {
		with, without = with[:0], without[:0]
		for _, name := range resources {
			requested, capacity := r.w.requestedWith(pod, n, name, false)
			if capacity == 0 {
				continue
			}
			with = append(with, min(float64(requested)/float64(capacity), 1))
			without = append(without, min(float64(requested-amount(&pod.Requests, name))/float64(capacity), 1))
		}
		out[i] = levelled(evenness(with), evenness(without))
	}
}

// amount is how much of a resource is there.
func amount(r *cluster.Resources, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.MemoryBytes
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorageByte
	}
	return r.Extended[name]
}

// balance is 100 less the standard deviation, in percent, of the requested
// fractions of cpu and memory, each capped at 1. For two values the standard
// deviation is half their difference; for one it is 0.
func balance(cpu, cpuCap, mem, memCap int64) int64 {
	if cpuCap == 0 || memCap == 0 {
		return maxScore
	}
	c := min(float64(cpu)/float64(cpuCap), 1)
	m := min(float64(mem)/float64(memCap), 1)
	std := math.Abs((c - m) / 2)
	return int64((1 - std) * maxScore)
}

// evenness is balance over any number of fractions.
func evenness(fractions []float64) int64 {
	std := 0.0
	switch len(fractions) {
	case 0, 1:
	case 2:
		std = math.Abs((fractions[0] - fractions[1]) / 2)
	default:
		mean, sum := 0.0, 0.0
		for _, f := range fractions {
			mean += f
		}
		mean /= float64(len(fractions))
		for _, f := range fractions {
			sum += float64((f - mean) * (f - mean))
		}
		std = math.Sqrt(sum / float64(len(fractions)))
	}
	return int64((1 - std) * maxScore)
}
