package legacy

import (
	"encoding/json"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
)

// knownPriorities are the supported priority functions without arguments.
var knownPriorities = []struct {
	name  string
	score func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64)
}{
	{"SelectorSpreadPriority", selectorSpread},
	{"InterPodAffinityPriority", func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
		score.InterPodScores(r, feasible, out, scheduler.MaxLegacyScore)
	}},
	{"LeastRequestedPriority", func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
		requestedScore(r, feasible, out, func(requested, capacity int64) int64 { return capacity - requested })
	}},
	{"BalancedResourceAllocation", balancedAllocation},
	{"NodePreferAvoidPodsPriority", preferAvoidPods},
	{"NodeAffinityPriority", nodeAffinity},
	{"TaintTolerationPriority", taintToleration},
	{"MostRequestedPriority", func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
		requestedScore(r, feasible, out, func(requested, _ int64) int64 { return requested })
	}},
	{"EqualPriority", func(_ *cycle.Attempt, _ []cluster.NodeID, out []int64) { fillScores(out, 1) }},
}

// Plugins returns the priority functions of a Policy as score plugins. It skips unknown functions.
func Plugins(p *scheduler.LegacyPolicy) []cycle.Scorer {
	var list []cycle.Scorer
	for _, f := range p.Priorities {
		s := cycle.Scorer{Name: f.Name, Weight: f.Weight}
		switch {
		case f.AntiAffinityLabel != "":
			s.Score = func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
				serviceAntiAffinity(r, f.AntiAffinityLabel, feasible, out)
			}
		case f.PreferLabel != "":
			s.Score = func(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) { labelPreference(r, f, feasible, out) }
		default:
			for _, known := range knownPriorities {
				if known.name == f.Name {
					s.Score = known.score
				}
			}
		}
		if s.Score != nil {
			list = append(list, s)
		}
	}
	return list
}

func fillScores(out []int64, v int64) {
	for i := range out {
		out[i] = v
	}
}

func taintToleration(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	score.CountTaints(r, feasible, out)
	score.Normalise(out, scheduler.MaxLegacyScore, true)
}

func nodeAffinity(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	if r.Replacement.StaticScores.Preferred == nil {
		clear(out)
		return
	}
	score.CopyByNode(out, feasible, r.Replacement.StaticScores.Preferred)
	score.Normalise(out, scheduler.MaxLegacyScore, false)
}

// requestedScore gives (10 part/C for cpu + the same for memory) / 2 in integers, with capacity C.
// A container without a request counts as 100m and 200Mi.
func requestedScore(r *cycle.Attempt, feasible []cluster.NodeID, out []int64, part func(requested, capacity int64) int64) {
	one := func(requested, capacity int64) int64 {
		if capacity == 0 || requested > capacity {
			return 0
		}
		return part(requested, capacity) * scheduler.MaxLegacyScore / capacity
	}
	pod := &r.Replacement.ScoredRequests
	for i, n := range feasible {
		l := &r.Model.Requests[n]
		out[i] = (one(l.NonZeroMilliCPU+pod.MilliCPU, l.AllocatableMilliCPU) +
			one(l.NonZeroBytes+pod.MemoryBytes, l.AllocatableBytes)) / 2
	}
}

// balancedAllocation gives 10 (1 - |cpu fraction - memory fraction|); 0 if one of the fractions is
// 1 or more. A resource that the node does not have counts as fully requested.
func balancedAllocation(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	pod := &r.Replacement.ScoredRequests
	for i, n := range feasible {
		l := &r.Model.Requests[n]
		cpu, cpuCap := l.NonZeroMilliCPU+pod.MilliCPU, l.AllocatableMilliCPU
		mem, memCap := l.NonZeroBytes+pod.MemoryBytes, l.AllocatableBytes
		if out[i] = 0; cpu >= cpuCap || mem >= memCap {
			continue
		}
		diff := float64(cpu)/float64(cpuCap) - float64(mem)/float64(memCap)
		out[i] = int64((1 - max(diff, -diff)) * scheduler.MaxLegacyScore)
	}
}

// preferAvoidPods gives 0 to nodes whose annotation names the pod's ReplicationController or
// ReplicaSet, and 10 to other nodes.
func preferAvoidPods(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	c := r.Replacement.Class.Sample.Controller
	fillScores(out, scheduler.MaxLegacyScore)
	if c == nil || c.Kind != "ReplicationController" && c.Kind != "ReplicaSet" {
		return
	}
	for i, n := range feasible {
		text, ok := r.Model.Snap.Nodes[n].Object.Annotations[corev1.PreferAvoidPodsAnnotationKey]
		var avoid corev1.AvoidPods
		if !ok || json.Unmarshal([]byte(text), &avoid) != nil {
			continue // as the scheduler does with an annotation that it cannot read
		}
		for _, p := range avoid.PreferAvoidPods {
			if s := p.PodSignature.PodController; s != nil && s.Kind == c.Kind && s.UID == c.UID {
				out[i] = 0
			}
		}
	}
}

func labelPreference(r *cycle.Attempt, f scheduler.PriorityFunction, feasible []cluster.NodeID, out []int64) {
	for i, n := range feasible {
		out[i] = 0
		if _, has := r.Model.Snap.Nodes[n].Label(f.PreferLabel); has != f.PreferAbsent {
			out[i] = scheduler.MaxLegacyScore
		}
	}
}
