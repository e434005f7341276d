package search

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

// A node is emptied by one atomic step: either all of its pods leave, in waves of their own, or
// none leaves for that goal. The search empties nodes after it has made all other moves, so these
// use the limits first. A replacement must land on a node that stays. At first, the nodes that may
// still be emptied take no replacements either. If a node cannot be emptied that way, the search
// tries it again and lets them take its replacements; a node with a replacement is not emptied.
// emptyNodes makes several attempts, in different orders of the nodes.
//
// Steps that fail may use as many predictions as the final pass.

// emptyingSearch empties the nodes of goals of the kind NodeEmpty.
type emptyingSearch struct {
	problem *Problem
	sim     *Simulation
	account *Account
	waves   *waves
	rounds  *rounds
	emptied map[string]int // nodes, by strategy
	spare   int            // predictions that failed steps may still use
}

// stuckPod is the first pod that cannot leave the node of a goal. Without a pod, the reason is
// about the node as a whole.
type stuckPod struct {
	pod    cluster.PodID
	reason plan.Reason
}

const noPod = cluster.PodID(-1)

// emptyEach tries each node once, and returns the goals whose nodes have no acceptable landing for
// a pod. If closed is set, nodes that may still be emptied take no replacements.
func (e *emptyingSearch) emptyEach(goals []int, closed bool) (again []int) {
	stuck := map[int]stuckPod{}
	var open []int
	for _, g := range goals {
		if by, no := e.cannotLeave(g); no {
			stuck[g] = by
		} else {
			open = append(open, g)
		}
	}
	for i, g := range open {
		var others []cluster.NodeID
		if closed {
			for _, o := range open[i:] {
				others = append(others, e.sim.Goals.Goals[o].Node)
			}
			for _, o := range again {
				others = append(others, e.sim.Goals.Goals[o].Node)
			}
		}
		by, done := e.empty(g, others)
		if done {
			e.emptied[e.sim.Goals.Goals[g].Strategy]++
			continue
		}
		if stuck[g] = by; rejections.DependsOnLanding(by.reason.Code) {
			again = append(again, g)
		}
	}
	for _, g := range goals {
		if by, is := stuck[g]; is {
			e.rejectNode(g, by)
		}
	}
	return again
}

// empty tries to empty the node of goal g, at first without hints.
func (e *emptyingSearch) empty(g int, closed []cluster.NodeID) (by stuckPod, done bool) {
	if by, no := e.cannotLeave(g); no { // an earlier step has used limits, or placed a replacement on the node
		return by, false
	}
	for _, mayHint := range e.sim.hintPhases() {
		spent := *e.sim.predictions
		if by = e.tryStep(g, closed, mayHint); by.reason.Code == "" && by.pod == noPod {
			return by, true
		}
		if e.spare -= *e.sim.predictions - spent; by.reason.Code != "" {
			break
		}
	}
	return by, false
}

// cannotLeave applies all checks that do not depend on landings to the pods of the node together.
func (e *emptyingSearch) cannotLeave(g int) (by stuckPod, no bool) {
	of, pods := &e.sim.Goals.Goals[g], e.podsToLeave(g)
	whole := func(code plan.Code, format string, args ...any) (stuckPod, bool) {
		return stuckPod{noPod, plan.Reason{Code: code, Message: fmt.Sprintf(format, args...)}}, true
	}
	switch name := e.sim.NodeName(of.Node); {
	case of.MaxNodes > 0 && e.emptied[of.Strategy] >= of.MaxNodes:
		return whole(plan.LimitMaxNodes, "strategy %s: maxNodes allows %s; %d planned already", of.Strategy,
			plural.Count(of.MaxNodes, "empty node"), e.emptied[of.Strategy])
	case goal.Emptying{Tracker: e.sim.Goals}.PodsLeft(g) != len(pods):
		return whole(plan.NodeNotEmptied, "%s is not emptied: an earlier move of the plan lands on it", name)
	case e.spare <= 0:
		return whole(plan.NodeNotEmptied, "%s is not emptied: the search tried emptier nodes first, and has no predictions left", name)
	}
	for _, pod := range pods {
		p := &e.sim.Snapshot.Pods[pod]
		if start, is := e.account.Eligibility.MayBeReplacement(p); is {
			return whole(plan.NodeNotEmptied, "%s is not emptied: %s/%s started there %s ago and may replace an evicted pod of its workload; "+
				"a node that took a replacement is not emptied within an hour of the eviction", e.sim.NodeName(of.Node), p.Object.Namespace, p.Object.Name,
				e.problem.Now.Sub(start).Round(time.Second))
		}
	}
	if reason, cut := e.sim.LimitReached(); cut {
		return stuckPod{noPod, reason}, true
	}
	e.rounds.begun[g] = true
	strategy := e.account.StrategyOf(g)
	for i, pod := range pods {
		if reason, refused := e.account.Refuse(e.sim.MoveOf(pod, strategy)); refused {
			by, no = stuckPod{pod, reason}, true
			pods = pods[:i]
			break
		}
		e.account.Charge(e.sim.MoveOf(pod, strategy))
	}
	for _, pod := range pods {
		e.account.Refund(e.sim.MoveOf(pod, strategy))
	}
	return by, no
}

// podsToLeave returns the pods that must leave the node of goal g, the largest first: a large pod fits on few nodes.
func (e *emptyingSearch) podsToLeave(g int) []cluster.PodID {
	of := &e.sim.Goals.Goals[g]
	pods := slices.DeleteFunc(slices.Clone(of.Pods), func(p cluster.PodID) bool { return e.waves.moved[p] || e.sim.NodeOf(p) != of.Node })
	alloc := &e.sim.Snapshot.Nodes[of.Node].Allocatable
	size := func(p cluster.PodID) (most float64) {
		for _, r := range alloc.Names() {
			if total := alloc.Get(r); total > 0 {
				most = max(most, float64(e.sim.Snapshot.Pods[p].Requests.Get(r))/float64(total))
			}
		}
		return most
	}
	slices.SortStableFunc(pods, func(a, b cluster.PodID) int { return cmp.Compare(size(b), size(a)) })
	return pods
}

// tryStep moves all pods of the node, in waves of their own. If one cannot be moved, tryStep undoes
// the step and returns that pod. The reason is empty if hints may help.
func (e *emptyingSearch) tryStep(g int, closed []cluster.NodeID, mayHint bool) (by stuckPod) {
	from, pods := len(e.waves.moves), e.podsToLeave(g)
	e.waves.openWave()
	e.waves.current.mayHint, e.waves.scope = mayHint, anyGoal
	e.rounds.round++
	trackers := []*Simulation{e.sim, e.waves.current.Start}
	closed = slices.Concat(closed, goal.NotTargets(&e.sim.Goals.Goals[g]))
	for _, st := range trackers {
		goal.Emptying{Tracker: st.Goals}.Start([]int{g}, closed)
	}
	e.sim.version++ // a landing that was not acceptable may be acceptable now
	if by = e.movePods(g, pods); by.pod != noPod {
		e.dropStep(from)
	}
	for _, st := range trackers {
		goal.Emptying{Tracker: st.Goals}.Stop()
	}
	e.sim.version++
	return by
}

// movePods moves the pods in as many waves as they need. If the replacement of a pod has no acceptable landing yet,
// movePods tries the pod again after others have moved. It returns the first pod that cannot be moved.
func (e *emptyingSearch) movePods(g int, pods []cluster.PodID) stuckPod {
	for len(pods) > 0 {
		first := stuckPod{pod: noPod}
		var later []cluster.PodID
		for i, pod := range pods {
			if e.waves.current.InFlight.Full() {
				later = append(later, pods[i:]...)
				break
			}
			a, reason := e.rounds.tryCandidate(pod, g)
			if a == Admitted {
				continue
			}
			if later = append(later, pod); a == Refused && first.pod == noPod {
				first = stuckPod{pod, reason}
			}
			if a == Refused && reason.Code != "" && !rejections.DependsOnLanding(reason.Code) {
				return stuckPod{pod, reason}
			}
		}
		switch {
		case len(e.waves.current.steps) > 0:
		case first.pod == noPod:
			return stuckPod{later[0], e.waves.current.noRoomReason(later[0])}
		default:
			return first
		}
		for _, m := range e.waves.closeWave() {
			later = append(later, m.Pod)
		}
		pods = later
	}
	return stuckPod{pod: noPod}
}

// dropStep undoes the moves after the first ones.
func (e *emptyingSearch) dropStep(first int) {
	SetHints(e.waves.current.states(), nil)
	e.waves.emptyWave()
	for len(e.waves.moves) > first {
		e.waves.undoLast()
	}
	e.waves.openWave()
}

// rejectNode records why the pods of the node stay. A reason that another goal has given for a pod remains.
func (e *emptyingSearch) rejectNode(g int, by stuckPod) {
	of := &e.sim.Goals.Goals[g]
	whole := by.reason
	if by.pod != noPod {
		whole = plan.Reason{Code: plan.NodeNotEmptied, Message: fmt.Sprintf("%s must be emptied completely, but %s stays (%s)",
			e.sim.NodeName(of.Node), plan.PodRefOf(&e.sim.Snapshot.Pods[by.pod]), by.reason.Code)}
	}
	for _, pod := range e.podsToLeave(g) {
		r, known := e.account.Rejections.Of(pod)
		switch {
		case known && r.Reason.Code != plan.NodeNotEmptied && !e.account.isOutOfScope(r.Reason) && r.Strategy != of.Strategy:
		case pod == by.pod:
			e.account.reject(pod, g, by.reason)
		default:
			e.account.reject(pod, g, whole)
		}
	}
}
