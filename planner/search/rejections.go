package search

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Rejections keeps the last rejection of each candidate. Many pods share one rejection, for example all pods that one
// limit blocks.
type Rejections struct {
	byPod    []int32 // by pod: index in distinct plus one; 0: no rejection
	distinct []rejection
}

type rejection struct {
	strategy string
	Reason   plan.Reason
}

func newRejections(pods int) *Rejections { return &Rejections{byPod: make([]int32, pods)} }

// Of returns the rejection of the pod, if any.
func (r *Rejections) Of(pod cluster.PodID) (rejection, bool) {
	if i := r.byPod[pod]; i > 0 {
		return r.distinct[i-1], true
	}
	return rejection{}, false
}

func (r *Rejections) has(pod cluster.PodID) bool { return r.byPod[pod] > 0 }

func (r *Rejections) clone() *Rejections {
	return &Rejections{slices.Clone(r.byPod), slices.Clone(r.distinct)}
}

// add records why a pod is not moved. PredictionLimitReached does not replace an earlier reason.
func (r *Rejections) add(pod cluster.PodID, strategy string, reason plan.Reason) {
	if r.has(pod) && reason.Code == plan.PredictionLimitReached {
		return
	}
	x := rejection{strategy, reason}
	if last := len(r.distinct) - 1; last < 0 || r.distinct[last] != x {
		r.distinct = append(r.distinct, x)
	}
	r.byPod[pod] = int32(len(r.distinct))
}

func (r *Rejections) remove(pod cluster.PodID) { r.byPod[pod] = 0 }

// limitCodes lists the codes of rejections that depend on the number of moves.
var limitCodes = []plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace, plan.LimitPerOwner,
	plan.LimitPerZone, plan.LimitPerHour, plan.LimitMaxNodes, plan.WaitsForNextPass}

// ByLimit reports whether a limit blocks the pod.
func (r *Rejections) ByLimit(pod cluster.PodID) bool {
	x, known := r.Of(pod)
	return known && slices.Contains(limitCodes, x.Reason.Code)
}

// forgetLimits removes the rejections that depend on the number of moves.
func (r *Rejections) forgetLimits() {
	for pod := range r.byPod {
		if r.ByLimit(cluster.PodID(pod)) {
			r.byPod[pod] = 0
		}
	}
}

// List counts all rejections by code. List returns the first perCode samples of each code, sorted by code and pod. A
// negative perCode keeps all samples.
func (r *Rejections) List(s *cluster.Snapshot, perCode int) plan.Rejections {
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
			out.Samples = append(out.Samples, plan.Rejection{Pod: plan.PodRefOf(p), Node: node, Strategy: x.strategy, Reason: x.Reason})
		}
	}
	slices.SortStableFunc(out.Samples, func(a, b plan.Rejection) int { return strings.Compare(string(a.Reason.Code), string(b.Reason.Code)) })
	return out
}
