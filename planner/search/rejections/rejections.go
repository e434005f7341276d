// Package rejections keeps the reasons why the candidates of a search are not moved. It decides nothing.
package rejections

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Set keeps the last rejection of each candidate. Many pods share one rejection, for example all pods that one
// limit blocks.
type Set struct {
	byPod    []int32 // by pod: index in distinct plus one; 0: no rejection
	distinct []Rejection
}

// Rejection is the reason of a rejection, and the strategy for which the pod was a candidate.
type Rejection struct {
	Strategy string
	Reason   plan.Reason
}

// New returns an empty set for a number of pods.
func New(pods int) *Set { return &Set{byPod: make([]int32, pods)} }

// Of returns the rejection of the pod, if any.
func (r *Set) Of(pod cluster.PodID) (Rejection, bool) {
	if i := r.byPod[pod]; i > 0 {
		return r.distinct[i-1], true
	}
	return Rejection{}, false
}

// Has reports whether the pod has a rejection.
func (r *Set) Has(pod cluster.PodID) bool { return r.byPod[pod] > 0 }

// Clone returns an independent copy.
func (r *Set) Clone() *Set {
	return &Set{slices.Clone(r.byPod), slices.Clone(r.distinct)}
}

// Add records why a pod is not moved. The end of a search that was cut short does not replace an earlier reason.
func (r *Set) Add(pod cluster.PodID, strategy string, reason plan.Reason) {
	if r.Has(pod) && (reason.Code == plan.PredictionLimitReached || reason.Code == plan.PlanTimeReached) {
		return
	}
	x := Rejection{strategy, reason}
	if last := len(r.distinct) - 1; last < 0 || r.distinct[last] != x {
		r.distinct = append(r.distinct, x)
	}
	r.byPod[pod] = int32(len(r.distinct))
}

// Remove forgets the rejection of a pod that is moved.
func (r *Set) Remove(pod cluster.PodID) { r.byPod[pod] = 0 }

// limitCodes lists the codes of rejections that depend on the number of moves.
var limitCodes = []plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace, plan.LimitPerOwner,
	plan.LimitPerZone, plan.LimitPerHour, plan.LimitMaxNodes, plan.WaitsForNextPass}

// ByLimit reports whether a limit blocks the pod.
func (r *Set) ByLimit(pod cluster.PodID) bool {
	x, known := r.Of(pod)
	return known && slices.Contains(limitCodes, x.Reason.Code)
}

// BySharedLimit reports whether a limit that counts the evictions of several namespaces together refused a pod.
func (r *Set) BySharedLimit() bool {
	return slices.ContainsFunc(r.distinct, func(x Rejection) bool {
		return slices.Contains([]plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerZone, plan.LimitPerHour}, x.Reason.Code)
	})
}

// ForgetLimits removes the rejections that depend on the number of moves.
func (r *Set) ForgetLimits() {
	for pod := range r.byPod {
		if r.ByLimit(cluster.PodID(pod)) {
			r.byPod[pod] = 0
		}
	}
}

// List counts all rejections by code. List returns the first perCode samples of each code, sorted by code and pod. A
// negative perCode keeps all samples.
func (r *Set) List(s *cluster.Snapshot, perCode int) plan.Rejections {
	out := plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}}
	for i := range r.byPod { // pods are in the order of names
		id := cluster.PodID(i)
		x, refused := r.Of(id)
		if !refused {
			continue
		}
		out.Counts[x.Reason.Code]++
		if perCode < 0 || out.Counts[x.Reason.Code] <= perCode {
			p, node := &s.Pods[id], ""
			if p.Node != cluster.NoNode {
				node = s.Nodes[p.Node].Name
			}
			out.Samples = append(out.Samples, plan.Rejection{Pod: plan.PodRefOf(p), Node: node, Strategy: x.Strategy, Reason: x.Reason})
		}
	}
	slices.SortStableFunc(out.Samples, func(a, b plan.Rejection) int { return strings.Compare(string(a.Reason.Code), string(b.Reason.Code)) })
	return out
}

// DependsOnLanding reports whether a pod stays because its replacement has no acceptable landing.
func DependsOnLanding(code plan.Code) bool {
	return code == plan.NoTargetFits || code == plan.WouldReturn || code == plan.UncertainLanding
}
