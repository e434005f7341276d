package placement

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// maxPolicyScore is what the best node of a legacy priority function gets
// before the weight.
const maxPolicyScore = 10

// Policy are the scores of a scheduler that follows a legacy Policy, as
// kube-scheduler did before 1.23: the sum of weight times f over its functions,
// each f an integer of 0..10. Ties are broken at random.
type Policy struct {
	Priorities []Priority
	// HardPodAffinityWeight is hardPodAffinitySymmetricWeight, 0..100.
	HardPodAffinityWeight int64
}

// Priority is one priority function of a Policy. Name is one of the functions
// without arguments that are known, or any other where one of the labels is set.
type Priority struct {
	Name   string
	Weight int64
	// AntiAffinityLabel makes it serviceAntiAffinity over this node label.
	AntiAffinityLabel string
	// PreferLabel makes it labelPreference: nodes with this label get 10, others
	// 0; with PreferAbsent the reverse.
	PreferLabel  string
	PreferAbsent bool
}

// policyFunctionNames are the priority functions without arguments that are
// modelled. The first seven are the default.
var policyFunctionNames = []string{
	"SelectorSpreadPriority", "InterPodAffinityPriority", "LeastRequestedPriority", "BalancedResourceAllocation",
	"NodePreferAvoidPodsPriority", "NodeAffinityPriority", "TaintTolerationPriority", "MostRequestedPriority", "EqualPriority",
}

// policyFunctions are the priority functions without arguments that are known.
var policyFunctions = []struct {
	name  string
	score func(r *round, feasible []cluster.NodeID, out []int64)
}{
	{"SelectorSpreadPriority", (*round).policySelectorSpread},
	{"InterPodAffinityPriority", func(r *round, feasible []cluster.NodeID, out []int64) { r.interPodSums(feasible, out, maxPolicyScore) }},
	{"LeastRequestedPriority", (*round).policyLeastRequested},
	{"BalancedResourceAllocation", (*round).policyBalanced},
	{"NodePreferAvoidPodsPriority", (*round).policyPreferAvoid},
	{"NodeAffinityPriority", (*round).policyNodeAffinity},
	{"TaintTolerationPriority", (*round).policyTaints},
	{"MostRequestedPriority", (*round).policyMostRequested},
	{"EqualPriority", func(_ *round, _ []cluster.NodeID, out []int64) { fill(out, 1) }},
}

// DefaultPolicy is what applied without a Policy: weight 1 for everything, but
// 10000 for NodePreferAvoidPodsPriority.
func DefaultPolicy() Policy {
	p := Policy{HardPodAffinityWeight: 1}
	for _, f := range policyFunctionNames[:7] {
		weight := int64(1)
		if f == "NodePreferAvoidPodsPriority" {
			weight = 10000
		}
		p.Priorities = append(p.Priorities, Priority{Name: f, Weight: weight})
	}
	return p
}

func (p *Policy) scorers() []scorer {
	var list []scorer
	for _, f := range p.Priorities {
		s := scorer{name: f.Name, weight: f.Weight}
		switch {
		case f.AntiAffinityLabel != "":
			s.score = func(r *round, feasible []cluster.NodeID, out []int64) {
				r.policyAntiAffinity(f.AntiAffinityLabel, feasible, out)
			}
		case f.PreferLabel != "":
			s.score = func(r *round, feasible []cluster.NodeID, out []int64) { r.policyLabel(f, feasible, out) }
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

// unknown names the function that is not modelled; empty if there is none.
func (p *Policy) unknown() string {
	for _, f := range p.Priorities {
		if f.AntiAffinityLabel == "" && f.PreferLabel == "" && !slices.Contains(policyFunctionNames, f.Name) {
			return fmt.Sprintf("its priority function %s is not modelled", f.Name)
		}
	}
	return ""
}

func fill(out []int64, v int64) {
	for i := range out {
		out[i] = v
	}
}

func (r *round) policyTaints(feasible []cluster.NodeID, out []int64) {
	r.countTaints(feasible, out)
	normalise(out, maxPolicyScore, true)
}

func (r *round) policyNodeAffinity(feasible []cluster.NodeID, out []int64) {
	if r.in.fixed.preferred == nil {
		fill(out, 0)
		return
	}
	pick(out, feasible, r.in.fixed.preferred)
	normalise(out, maxPolicyScore, false)
}

// policyLeastRequested is (10 (C-R)/C for cpu + the same for memory) / 2 in
// integers, with 100m and 200Mi where a container requests none.
func (r *round) policyLeastRequested(feasible []cluster.NodeID, out []int64) {
	r.policyRequested(feasible, out, func(requested, capacity int64) int64 { return capacity - requested })
}

func (r *round) policyMostRequested(feasible []cluster.NodeID, out []int64) {
	r.policyRequested(feasible, out, func(requested, _ int64) int64 { return requested })
}

func (r *round) policyRequested(feasible []cluster.NodeID, out []int64, part func(requested, capacity int64) int64) {
	one := func(requested, capacity int64) int64 {
		if capacity == 0 || requested > capacity {
			return 0
		}
		return part(requested, capacity) * maxPolicyScore / capacity
	}
	pod := &r.in.assumed
	for i, n := range feasible {
		l := &r.m.load[n]
		out[i] = (one(l.nonZeroMilliCPU+pod.MilliCPU, l.allocatableMilliCPU) +
			one(l.nonZeroBytes+pod.MemoryBytes, l.allocatableBytes)) / 2
	}
}

// policyBalanced is 10 (1 - |cpu fraction - memory fraction|), 0 when one of them
// is 1 or more. A node with none of a resource has it fully requested.
func (r *round) policyBalanced(feasible []cluster.NodeID, out []int64) {
	pod := &r.in.assumed
	for i, n := range feasible {
		l := &r.m.load[n]
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
func (r *round) policyPreferAvoid(feasible []cluster.NodeID, out []int64) {
	c := r.in.class.sample.Controller
	fill(out, maxPolicyScore)
	if c == nil || c.Kind != "ReplicationController" && c.Kind != "ReplicaSet" {
		return
	}
	for i, n := range feasible {
		text, ok := r.m.snap.Nodes[n].Object.Annotations[corev1.PreferAvoidPodsAnnotationKey]
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

func (r *round) policyLabel(f Priority, feasible []cluster.NodeID, out []int64) {
	for i, n := range feasible {
		out[i] = 0
		if _, has := r.m.snap.Nodes[n].Label(f.PreferLabel); has != f.PreferAbsent {
			out[i] = maxPolicyScore
		}
	}
}
