package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// refusals keeps the last refusal of each pod that was a candidate.
type refusals struct {
	byPod map[cluster.PodID]refusal
}

type refusal struct {
	strategy string
	reason   plan.Reason
}

func newRefusals() *refusals { return &refusals{map[cluster.PodID]refusal{}} }

// add notes why a pod stays. That nothing more was tried does not take the place of what
// was found when it was.
func (r *refusals) add(pod cluster.PodID, strategy string, reason plan.Reason) {
	if _, known := r.byPod[pod]; known && reason.Code == plan.EffortSpent {
		return
	}
	r.byPod[pod] = refusal{strategy, reason}
}

func (r *refusals) remove(pod cluster.PodID) { delete(r.byPod, pod) }

// ofLimits are the codes of refusals that go by how many moves there are.
var ofLimits = []plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace, plan.LimitPerOwner, plan.LimitPerZone, plan.LimitPerHour}

// byLimit reports whether a limit keeps the pod.
func (r *refusals) byLimit(pod cluster.PodID) bool {
	x, known := r.byPod[pod]
	return known && slices.Contains(ofLimits, x.reason.Code)
}

// forgetLimits forgets the refusals that went by how many moves there were.
func (r *refusals) forgetLimits() {
	maps.DeleteFunc(r.byPod, func(_ cluster.PodID, x refusal) bool { return slices.Contains(ofLimits, x.reason.Code) })
}

// refuseAll gives the reason to all pods that could serve the goal and have none.
func (c *search) refuseAll(g int, reason plan.Reason) {
	for _, id := range c.podsOf(g) {
		if _, known := c.refused.byPod[id]; !known && !c.moved[id] {
			if from := c.world.NodeOf(id); from != cluster.NoNode && c.goals.couldServe(g, id, from) {
				c.refused.add(id, c.goals.list[g].Strategy, reason)
			}
		}
	}
}

// list counts all and keeps the first samples of each code, by code and pod.
func (r *refusals) list(s *cluster.Snapshot, perCode int) plan.Rejections {
	out := plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}}
	for _, id := range slices.Sorted(maps.Keys(r.byPod)) { // which is the order of names
		x := r.byPod[id]
		out.Counts[x.reason.Code]++
		if perCode < 0 || out.Counts[x.reason.Code] <= perCode {
			p, node := &s.Pods[id], ""
			if p.Node != cluster.NoNode {
				node = s.Nodes[p.Node].Name
			}
			out.Samples = append(out.Samples, plan.Rejection{Pod: podRef(p), Node: node, Strategy: x.strategy, Reason: x.reason})
		}
	}
	slices.SortStableFunc(out.Samples, func(a, b plan.Rejection) int { return strings.Compare(string(a.Reason.Code), string(b.Reason.Code)) })
	return out
}

func podRef(p *cluster.Pod) plan.PodRef {
	return plan.PodRef{Namespace: p.Object.Namespace, Name: p.Object.Name, UID: string(p.Object.UID)}
}
