package lowerbound

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// requiredPods holds the pods that every plan evicts, because a goal is about each of them alone, or because the plan
// empties their node.
type requiredPods struct {
	marked []bool // by pod; nil if there are none
	count  int
}

func (r *requiredPods) add(pod cluster.PodID, pods int) {
	if r.marked == nil {
		r.marked = make([]bool, pods)
	}
	if !r.marked[pod] {
		r.marked[pod] = true
		r.count++
	}
}

func (r *requiredPods) has(pod cluster.PodID) bool { return r.marked != nil && r.marked[pod] }

// addPodNeeds adds one eviction for each pod that an unmet PodAway is about and that may leave. If
// the pod may not leave, the goal is part of the residual. The other needs count these pods as
// evicted already.
//
// Proof: let R be these pods, and E the evictions of a plan that meets the goals. E contains R. If
// E lowers the excess of a node by an amount, the pods of E without R lower it by at least the
// amount minus the sizes of the pods of R on the node; a pod of R that returns lowers it by less.
// If E contains k pods of a group, E without R contains at least k minus the pods of R in the
// group. So E without R meets the reduced needs, which only pods outside R can meet. It has at
// least as many pods as CountBound and WeightedBound prove for them, and E has the number of R
// more.
func (p *proof) addPodNeeds() {
	for g := range p.start.Goals {
		goal := &p.start.Goals[g]
		if goal.Kind != plan.PodAway || goal.Constraint || p.start.Excess(g) == 0 {
			continue
		}
		pod := goal.Pods[0]
		if !p.reach.mayLeave(pod) || !p.reach.canMeet(goal) {
			p.addResidual(*goal, 1, 1)
			continue
		}
		p.full.required.add(pod, len(p.result.Snapshot.Pods))
		if p.result.End.Goals.Excess(g) == 0 {
			p.planned.required.add(pod, len(p.result.Snapshot.Pods))
		}
	}
}

// addEmptyNeeds adds one eviction for each pod of a node that the plan empties: no plan empties the
// node without them. Which further nodes could be empty together is a packing problem, so the bound
// has no evictions for nodes that stay. If a pod of such a node may not leave, or can run on no
// other node, the goal is part of the residual.
func addEmptyNeeds(p *proof) {
	for g := range p.start.Goals {
		goal := &p.start.Goals[g]
		if goal.Kind != plan.NodeEmpty || goal.Constraint || p.start.Excess(g) == 0 {
			continue
		}
		pods := slices.DeleteFunc(slices.Clone(goal.Pods), func(pod cluster.PodID) bool { return p.reach.movedEarlier[pod] })
		switch {
		case p.result.End.Goals.Excess(g) == 0:
			for _, pod := range pods {
				p.full.required.add(pod, len(p.result.Snapshot.Pods))
				p.planned.required.add(pod, len(p.result.Snapshot.Pods))
			}
		case slices.ContainsFunc(pods, func(pod cluster.PodID) bool { return !p.canLeaveForGood(pod) }):
			p.addResidual(*goal, 1, goal.Excess)
		}
	}
}

// targetsOfClass identifies the marked nodes of a PodAway and an equivalence class.
type targetsOfClass struct {
	first *bool // the first element of the marks
	class int
}

// canMeet reports whether the replacement of the pod of a PodAway can run on a node that meets the
// goal. The caller must check that the pod may be evicted.
func (r *reachability) canMeet(g *plan.Goal) bool {
	pod := g.Pods[0]
	if r.result.Snapshot.Pods[pod].Terminal {
		return true // no replacement follows
	}
	if g.Targets == nil && r.result.Options.NeedsNoPlace(g.Strategy) {
		return true
	}
	own := r.result.Snapshot.Pods[pod].Node
	if g.MayReturn && r.result.End.MayTake(pod)[own] && (r.couldReturn(pod, own) || r.couldHold(pod, own, r.couldRun(pod))) {
		return true
	}
	if len(g.Targets) == 0 {
		return r.canRunElsewhere(pod)
	}
	key := targetsOfClass{&g.Targets[0], r.result.End.ClassOf(pod)}
	return canClassRunOnAny(r, r.marked, key, pod, func() []cluster.NodeID { return r.nodesOf(g.Targets) })
}

// couldReturn reports whether the pod fits on its own node as soon as it has left. It is cheaper
// than couldHold, which also finds out which other pods may leave.
func (r *reachability) couldReturn(pod cluster.PodID, own cluster.NodeID) bool {
	if r.movedEarlier[pod] {
		return false // it is not among the pods of the node
	}
	without := r.atStart(own)
	without.requested = without.requested.Clone()
	without.requested.Sub(r.result.Snapshot.Pods[pod].Requests)
	without.pods--
	return r.couldRun(pod)(own, &without.requested, without.pods) && r.goalsAllow(pod, own, &without)
}

// nodesOf returns the marked nodes. Goals share their marks.
func (r *reachability) nodesOf(marked []bool) []cluster.NodeID {
	if nodes, known := r.markedNodes[&marked[0]]; known {
		return nodes
	}
	var nodes []cluster.NodeID
	for n, is := range marked {
		if is {
			nodes = append(nodes, cluster.NodeID(n))
		}
	}
	r.markedNodes[&marked[0]] = nodes
	return nodes
}
