package planner

import (
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// refusals keeps the last refusal of each pod that was a candidate. Many pods share
// one, and of those that limits let stay there are more than all others.
type refusals struct {
	byPod []int32 // by pod, its place in said and one; 0: none
	said  []refusal
}

type refusal struct {
	strategy string
	reason   plan.Reason
}

func newRefusals(pods int) *refusals { return &refusals{byPod: make([]int32, pods)} }

// of is why a pod stays, if it was refused.
func (r *refusals) of(pod cluster.PodID) (refusal, bool) {
	if i := r.byPod[pod]; i > 0 {
		return r.said[i-1], true
	}
	return refusal{}, false
}

func (r *refusals) has(pod cluster.PodID) bool { return r.byPod[pod] > 0 }

// clone keeps what is known so far.
func (r *refusals) clone() *refusals {
	return &refusals{slices.Clone(r.byPod), slices.Clone(r.said)}
}

// add notes why a pod stays. That nothing more was tried does not take the place of what
// was found when it was.
func (r *refusals) add(pod cluster.PodID, strategy string, reason plan.Reason) {
	if r.has(pod) && reason.Code == plan.PredictionLimitReached {
		return
	}
	x := refusal{strategy, reason}
	if last := len(r.said) - 1; last < 0 || r.said[last] != x {
		r.said = append(r.said, x)
	}
	r.byPod[pod] = int32(len(r.said))
}

func (r *refusals) remove(pod cluster.PodID) { r.byPod[pod] = 0 }

// ofLimits are the codes of refusals that go by how many moves there are.
var ofLimits = []plan.Code{plan.LimitPerPass, plan.LimitPerNode, plan.LimitPerNamespace, plan.LimitPerOwner, plan.LimitPerZone, plan.LimitPerHour}

// byLimit reports whether a limit keeps the pod.
func (r *refusals) byLimit(pod cluster.PodID) bool {
	x, known := r.of(pod)
	return known && slices.Contains(ofLimits, x.reason.Code)
}

// forgetLimits forgets the refusals that went by how many moves there were.
func (r *refusals) forgetLimits() {
	for pod := range r.byPod {
		if r.byLimit(cluster.PodID(pod)) {
			r.byPod[pod] = 0
		}
	}
}

// refuseAll gives the reason to all pods that could serve the goal and have none.
func (c *search) refuseAll(g int, reason plan.Reason) {
	for _, id := range c.podsOf(g) {
		if !c.refused.has(id) && !c.moved[id] {
			if from := c.world.NodeOf(id); from != cluster.NoNode && c.goals.couldServe(g, id, from) {
				c.refused.add(id, c.goals.list[g].Strategy, reason)
			}
		}
	}
}

// list counts all and keeps the first samples of each code, by code and pod.
func (r *refusals) list(s *cluster.Snapshot, perCode int) plan.Rejections {
	out := plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}}
	for i := range r.byPod { // which is the order of names
		id := cluster.PodID(i)
		x, refused := r.of(id)
		if !refused {
			continue
		}
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
