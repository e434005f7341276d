package score

import (
	"math"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	corev1 "k8s.io/api/core/v1"
)

// freePercent returns the free part of the capacity in percent, rounded down.
func freePercent(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * scheduler.MaxScore / capacity
}

// resourcesFit returns the score of NodeResourcesFit by the strategy of the profile: the weighted mean of
// the scores of the resources. A resource that the node does not have, and an extended resource that the
// pod does not request, are skipped. RequestedToCapacityRatio also skips scores of 0, and rounds to the
// nearest integer. The scheduler assumes 100m and 200Mi if a container requests no cpu or memory.
func resourcesFit(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	s := &in.Profile.FitStrategy
	var sum, weights int64
	resources := s.Resources
	if len(resources) == 0 {
		resources = coreResources
	}
	for _, x := range resources {
		requested, capacity := requestedWith(w, in, n, x.Name, true)
		if capacity == 0 {
			continue
		}
		score := strategyScore(s, requested, capacity)
		if s.Type == scheduler.RequestedToCapacityRatio && score <= 0 {
			continue
		}
		sum += score * x.Weight
		weights += x.Weight
	}
	switch {
	case weights == 0:
		return 0
	case s.Type == scheduler.RequestedToCapacityRatio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// coreResources are CPU and memory with the same weight.
var coreResources = []scheduler.ResourceWeight{
	{Name: corev1.ResourceCPU, Weight: 1}, {Name: corev1.ResourceMemory, Weight: 1},
}

func strategyScore(s *scheduler.ScoringStrategy, requested, capacity int64) int64 {
	switch s.Type {
	case scheduler.MostAllocated:
		return min(requested, capacity) * scheduler.MaxScore / capacity
	case scheduler.RequestedToCapacityRatio:
		return shapeScore(s, min(requested, capacity)*100/capacity)
	}
	return freePercent(requested, capacity)
}

// shapeScore returns the value of the shape, scaled from 0..10 to 0..100.
func shapeScore(s *scheduler.ScoringStrategy, utilization int64) int64 {
	const stretch = scheduler.MaxScore / 10
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

// requestedWith returns the requested amount of a resource on the node including the pod, and the
// node's capacity; 0, 0 for a resource that is not scored. If assumed is true, default requests
// replace missing requests.
func requestedWith(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID, name corev1.ResourceName, assumed bool) (requested, capacity int64) {
	l, comes, cpu, memory := &w.Requests[n], &in.Requests, w.Requests[n].MilliCPU, w.Requests[n].MemoryBytes
	if assumed {
		comes, cpu, memory = &in.ScoredRequests, l.NonZeroMilliCPU, l.NonZeroBytes
	}
	switch name {
	case corev1.ResourceCPU:
		return cpu + comes.MilliCPU, l.AllocatableMilliCPU
	case corev1.ResourceMemory:
		return memory + comes.MemoryBytes, l.AllocatableBytes
	}
	own := comes.Get(string(name))
	if own == 0 && isScalarResource(name) {
		return 0, 0
	}
	return l.Get(string(name)) + own, w.Snap.Nodes[n].Allocatable.Get(string(name))
}

// isScalarResource reports whether the resource is an extended resource, huge pages or an attach
// limit. Scores skip such a resource if the pod does not request it.
func isScalarResource(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
		strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix)
}

// balancedAllocation returns the score of NodeResourcesBalancedAllocation. With
// Features.BalancedByGain, the score is about 75 if the pod changes little, and up to 100 if the pod
// balances the node. Otherwise the score is the balance of the node with the pod. The score is 0 if
// the pod requests none of the resources.
func balancedAllocation(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	resources := in.Profile.BalancedResources
	if len(resources) == 0 {
		resources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	}
	none := true
	with, without := make([]float64, 0, 4), make([]float64, 0, 4)
	for _, name := range resources {
		own := in.Requests.Get(string(name))
		none = none && own == 0
		requested, capacity := requestedWith(w, in, n, name, false)
		if capacity == 0 {
			continue
		}
		with = append(with, min(float64(requested)/float64(capacity), 1))
		without = append(without, min(float64(requested-own)/float64(capacity), 1))
	}
	if none {
		return 0
	}
	if !w.Snap.Scheduler.BalancedByGain {
		return balanceOfFractions(with)
	}
	return BalanceGain(balanceOfFractions(with), balanceOfFractions(without))
}

// BalanceGain returns the score from the balance with and without the pod
// (Features.BalancedByGain).
func BalanceGain(with, without int64) int64 {
	return scheduler.MaxScore/2 + (scheduler.MaxScore/2+with-without)/2
}

// Balance returns 100 minus the standard deviation of the requested fractions of cpu and memory, in
// percent. Each requested fraction is at most 1. The standard deviation of two values is half their
// difference.
func Balance(cpu, cpuCap, mem, memCap int64) int64 {
	if cpuCap == 0 || memCap == 0 {
		return scheduler.MaxScore
	}
	difference := min(float64(cpu)/float64(cpuCap), 1) - min(float64(mem)/float64(memCap), 1)
	return int64((1 - math.Abs(difference/2)) * scheduler.MaxScore)
}

// balanceOfFractions computes Balance for any number of requested fractions.
func balanceOfFractions(fractions []float64) int64 {
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
	return int64((1 - std) * scheduler.MaxScore)
}
