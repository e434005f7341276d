package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// refusals keeps the last refusal of each pod that was a candidate.
type refusals struct {
	byPod map[cluster.PodID]plan.Rejection
}

func newRefusals() *refusals { return &refusals{map[cluster.PodID]plan.Rejection{}} }

func (r *refusals) add(s *cluster.Snapshot, pod cluster.PodID, strategy string, reason plan.Reason) {
	p := &s.Pods[pod]
	node := ""
	if p.Node != cluster.NoNode {
		node = s.Nodes[p.Node].Name
	}
	r.byPod[pod] = plan.Rejection{Pod: podRef(p), Node: node, Strategy: strategy, Reason: reason}
}

func (r *refusals) remove(pod cluster.PodID) { delete(r.byPod, pod) }

// list counts all and keeps the first samples of each code, by code and pod.
func (r *refusals) list(perCode int) plan.Rejections {
	out := plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}}
	all := make([]plan.Rejection, 0, len(r.byPod))
	for _, x := range r.byPod {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b plan.Rejection) int {
		return cmp.Or(strings.Compare(string(a.Reason.Code), string(b.Reason.Code)), strings.Compare(a.Pod.Namespace, b.Pod.Namespace), strings.Compare(a.Pod.Name, b.Pod.Name))
	})
	for _, x := range all {
		out.Counts[x.Reason.Code]++
		if perCode < 0 || out.Counts[x.Reason.Code] <= perCode {
			out.Samples = append(out.Samples, x)
		}
	}
	return out
}

func podRef(p *cluster.Pod) plan.PodRef {
	return plan.PodRef{Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)}
}
