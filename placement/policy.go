package placement

import (
	"encoding/json"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// policyFunctions are the priority functions without arguments that are known.
var policyFunctions = []struct {
	name  string
	score func(r *Attempt, feasible []cluster.NodeID, out []int64)
}{
	{"SelectorSpreadPriority", policySelectorSpread},
	{"InterPodAffinityPriority", func(r *Attempt, feasible []cluster.NodeID, out []int64) {
		interPodScores(r, feasible, out, maxPolicyScore)
	}},
	{"LeastRequestedPriority", policyLeastRequested},
	{"BalancedResourceAllocation", policyBalanced},
	{"NodePreferAvoidPodsPriority", policyPreferAvoid},
	{"NodeAffinityPriority", policyNodeAffinity},
	{"TaintTolerationPriority", policyTaints},
	{"MostRequestedPriority", policyMostRequested},
	{"EqualPriority", func(_ *Attempt, _ []cluster.NodeID, out []int64) { fill(out, 1) }},
}

func PolicyPlugins(p *Policy) []Scorer {
	var list []Scorer
	for _, f := range p.Priorities {
		s := Scorer{name: f.Name, weight: f.Weight}
		switch {
		case f.AntiAffinityLabel != "":
			s.score = func(r *Attempt, feasible []cluster.NodeID, out []int64) {
				policyAntiAffinity(r, f.AntiAffinityLabel, feasible, out)
			}
		case f.PreferLabel != "":
			s.score = func(r *Attempt, feasible []cluster.NodeID, out []int64) { policyLabel(r, f, feasible, out) }
		default:
			for _, known := range policyFunctions {
				if known.name == f.Name {
					s.score = known.score
				}
			}
		}
		if s.score != nil {
			list = append(list, s)
		}
	}
	return list
}

func fill(out []int64, v int64) {
	for i := range out {
		out[i] = v
	}
}

func policyTaints(r *Attempt, feasible []cluster.NodeID, out []int64) {
	CountTaints(r, feasible, out)
	normalise(out, maxPolicyScore, true)
}

func policyNodeAffinity(r *Attempt, feasible []cluster.NodeID, out []int64) {
	if r.Replacement.Static.preferred == nil {
		fill(out, 0)
		return
	}
	Pick(out, feasible, r.Replacement.Static.preferred)
	normalise(out, maxPolicyScore, false)
}

// policyLeastRequested is (10 (C-R)/C for cpu + the same for memory) / 2 in
// integers, with 100m and 200Mi where a container requests none.
func policyLeastRequested(r *Attempt, feasible []cluster.NodeID, out []int64) {
	policyRequested(r, feasible, out, func(requested, capacity int64) int64 { return capacity - requested })
}

func policyMostRequested(r *Attempt, feasible []cluster.NodeID, out []int64) {
	policyRequested(r, feasible, out, func(requested, _ int64) int64 { return requested })
}

func policyRequested(r *Attempt, feasible []cluster.NodeID, out []int64, part func(requested, capacity int64) int64) {
	one := func(requested, capacity int64) int64 {
		if capacity == 0 || requested > capacity {
			return 0
		}
		return part(requested, capacity) * maxPolicyScore / capacity
	}
	pod := &r.Replacement.ScoredRequests
	for i, n := range feasible {
		l := &r.Model.Requests[n]
		out[i] = (one(l.nonZeroMilliCPU+pod.MilliCPU, l.allocatableMilliCPU) +
			one(l.nonZeroBytes+pod.MemoryBytes, l.allocatableBytes)) / 2
	}
}

// policyBalanced is 10 (1 - |cpu fraction - memory fraction|), 0 when one of them
// is 1 or more. A node with none of a resource has it fully requested.
func policyBalanced(r *Attempt, feasible []cluster.NodeID, out []int64) {
	pod := &r.Replacement.ScoredRequests
	for i, n := range feasible {
		l := &r.Model.Requests[n]
		cpu, cpuCap := l.nonZeroMilliCPU+pod.MilliCPU, l.allocatableMilliCPU
		mem, memCap := l.nonZeroBytes+pod.MemoryBytes, l.allocatableBytes
		if out[i] = 0; cpu >= cpuCap || mem >= memCap {
			continue
		}
		diff := float64(cpu)/float64(cpuCap) - float64(mem)/float64(memCap)
		out[i] = int64((1 - max(diff, -diff)) * maxPolicyScore)
	}
}

// policyPreferAvoid is 0 where the node's annotation names the controller of the
// pod, a ReplicationController or ReplicaSet; else 10.
func policyPreferAvoid(r *Attempt, feasible []cluster.NodeID, out []int64) {
	c := r.Replacement.class.sample.Controller
	fill(out, maxPolicyScore)
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

func policyLabel(r *Attempt, f Priority, feasible []cluster.NodeID, out []int64) {
	for i, n := range feasible {
		out[i] = 0
		if _, has := r.Model.Snap.Nodes[n].Label(f.PreferLabel); has != f.PreferAbsent {
			out[i] = maxPolicyScore
		}
	}
}
