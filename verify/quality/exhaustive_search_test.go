package quality

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// exhaustiveSearch tries sequences of evictions and computes goal excesses with its own code. Each pod is evicted
// at most once. The replacement must land with enough confidence on a node where at least one goal improves and
// none gets worse. The search uses the planner's guards, budgets and placement model.
type exhaustiveSearch struct {
	s        *cluster.Snapshot
	opts     search.Options
	model    *placement.ClusterModel
	goals    []*goalState
	mayEvict []bool             // by pod: guards and budgets allow its eviction
	targets  [][]cluster.NodeID // by evictable pod: other nodes that could run it if they were empty
	moved    []bool
	steps    []podMove
	first    map[cluster.PodID]cluster.PodID // results of firstAlike
}

// podMove is one executed move.
type podMove struct {
	pod      cluster.PodID
	from, to cluster.NodeID
}

// goalState is the state of one goal during the search.
type goalState struct {
	goal    plan.Goal
	initial int64
	// NodeBelow: the requested amount and the limit.
	used, most int64
	// SkewAtMost and CountAtMost: the number of pods in each domain.
	domain []int // by node; -1: the node is in no domain of the goal
	member map[cluster.PodID]bool
	counts []int
	// PodAway: the node that the pod must leave, whether it has left, and the node of its replacement.
	start, at cluster.NodeID
	hasLeft   bool
	// NodeEmpty: the number of pods that must leave the node, and of replacements on it.
	left int
	// PodsApart: the node of each pod, and whether two nodes are in the same domain of a topology key.
	places     map[cluster.PodID]cluster.NodeID
	sameDomain func(key string, a, b cluster.NodeID) bool
}

func newExhaustiveSearch(p problem) *exhaustiveSearch {
	g := &exhaustiveSearch{s: p.s, opts: p.options(), mayEvict: make([]bool, len(p.s.Pods)),
		targets: make([][]cluster.NodeID, len(p.s.Pods)), moved: make([]bool, len(p.s.Pods)), first: map[cluster.PodID]cluster.PodID{}}
	g.model = placement.NewClusterModel(p.s, g.opts.Placement)
	for _, goal := range p.goals() {
		g.goals = append(g.goals, g.newGoalState(goal))
	}
	book := budget.NewTracker(p.s, nil, p.s.TakenAt)
	memory := guard.NewCache()
	for i := range p.s.Pods {
		pod := &p.s.Pods[i]
		if pod.Node == cluster.NoNode {
			continue
		}
		_, refused := guard.Check(guard.Input{Snapshot: p.s, Pod: pod, Now: p.s.TakenAt, Options: &g.opts.Guards, Cache: memory})
		if len(pod.Budgets) > 0 {
			_, lets := book.Allows(pod, budget.Charges{})
			refused = refused || !lets
		} else if w := p.s.WorkloadOf(pod); w != nil {
			refused = refused || guard.DesiredReplicas(w)-guard.AvailablePods(p.s, w, p.s.TakenAt) >= g.opts.MaxUnavailableWithoutPDB
		}
		if g.mayEvict[i] = !refused; g.mayEvict[i] {
			g.targets[i] = otherNodes(p.s, pod)
		}
	}
	return g
}

// otherNodes returns the other nodes that could run the replacement. otherNodes checks only conditions that moves
// do not change: readiness, selectors, taints, size, and the zone of volumes.
func otherNodes(s *cluster.Snapshot, pod *cluster.Pod) (out []cluster.NodeID) {
	zone := volumeZone(s, pod)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at, _ := n.Label(limits.ZoneKey)
		if n.ID != pod.Node && n.Ready && filter.CanRunFunc(pod.Object)(n) && (zone == "" || zone == at) {
			out = append(out, n.ID)
		}
	}
	return out
}

// volumeZone returns the zone of the pod's volume, or an empty string if it has none.
func volumeZone(s *cluster.Snapshot, pod *cluster.Pod) string {
	for _, v := range pod.Object.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := s.Claim(pod.Object.Namespace, v.PersistentVolumeClaim.ClaimName)
		for _, pv := range s.Objects.PersistentVolumes {
			if c != nil && pv.Name == c.Spec.VolumeName {
				return pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
			}
		}
	}
	return ""
}

// evictionHelps reports whether evicting the pod could help the goal. The pod must be able to run
// on another node or, for a group goal, in another domain.
func (g *exhaustiveSearch) evictionHelps(pod cluster.PodID, x *goalState) bool {
	switch x.goal.Kind {
	case plan.NodeBelow, plan.PodsApart:
		return len(g.targets[pod]) > 0
	case plan.PodAway:
		return x.goal.MayReturn || slices.ContainsFunc(g.targets[pod], func(n cluster.NodeID) bool { return x.meets(n) })
	}
	own := x.domain[g.s.Pods[pod].Node]
	return slices.ContainsFunc(g.targets[pod], func(n cluster.NodeID) bool { return x.domain[n] != own })
}

func (g *exhaustiveSearch) newGoalState(goal plan.Goal) *goalState {
	x := &goalState{goal: goal}
	switch goal.Kind {
	case plan.NodeBelow:
		n := &g.s.Nodes[goal.Node]
		x.used = n.Requested.Get(goal.Resource)
		x.most = int64(goal.Limit*float64(n.Allocatable.Get(goal.Resource)) + 1e-6)
	case plan.NodeEmpty:
		x.left = len(goal.Pods)
	case plan.PodAway:
		x.start, x.member = g.s.Pods[goal.Pods[0]].Node, map[cluster.PodID]bool{goal.Pods[0]: true}
	case plan.PodsApart:
		x.member, x.places, x.sameDomain = map[cluster.PodID]bool{}, map[cluster.PodID]cluster.NodeID{}, g.sameDomain
		for _, p := range slices.Concat(goal.Pods, goal.Staying) {
			x.member[p], x.places[p] = true, g.s.Pods[p].Node
		}
	case plan.SkewAtMost, plan.CountAtMost:
		index := map[string]int{}
		for i, d := range goal.Domains {
			index[d] = i
		}
		for i := range g.s.Nodes {
			if v, ok := g.s.Nodes[i].Label(goal.TopologyKey); ok && goal.Kind == plan.CountAtMost {
				if _, known := index[v]; !known {
					index[v] = len(index)
				}
			}
		}
		x.counts, x.member = make([]int, len(index)), map[cluster.PodID]bool{}
		for i := range g.s.Nodes {
			v, _ := g.s.Nodes[i].Label(goal.TopologyKey)
			d, ok := index[v]
			if !ok || goal.NotCounted != nil && goal.NotCounted[i] {
				d = -1
			}
			x.domain = append(x.domain, d)
		}
		for _, p := range goal.Pods {
			x.member[p] = true
			if d := x.domain[g.s.Pods[p].Node]; d >= 0 {
				x.counts[d]++
			}
		}
	}
	x.initial = max(1, x.excess())
	return x
}

// sameDomain reports whether two nodes have the same value of a label.
func (g *exhaustiveSearch) sameDomain(key string, a, b cluster.NodeID) bool {
	x, ok := g.s.Nodes[a].Label(key)
	y, too := g.s.Nodes[b].Label(key)
	return ok && too && x == y
}

// isTogether reports whether the pods of a conflict are in the same domain.
func (x *goalState) isTogether(i int) bool {
	c := x.goal.Conflicts[i]
	return x.sameDomain(c.TopologyKey, x.places[c.Pods[0]], x.places[c.Pods[1]])
}

func (x *goalState) excess() int64 {
	switch x.goal.Kind {
	case plan.PodsApart:
		together := int64(0)
		for i := range x.goal.Conflicts {
			if x.isTogether(i) {
				together++
			}
		}
		return together
	case plan.NodeBelow:
		return max(0, x.used-x.most)
	case plan.NodeEmpty:
		return int64(min(1, x.left))
	case plan.PodAway:
		if x.hasLeft && x.meets(x.at) {
			return 0
		}
		return 1
	case plan.CountAtMost:
		above := 0
		for _, n := range x.counts {
			above += max(0, n-int(x.goal.Limit))
		}
		return int64(above)
	}
	return int64(fewestMoves(x.counts, int(x.goal.Limit)))
}

// meets reports whether placing the replacement on the node satisfies a PodAway goal.
func (x *goalState) meets(n cluster.NodeID) bool {
	if n == x.start {
		return x.goal.MayReturn
	}
	return x.goal.Targets == nil || x.goal.Targets[n]
}

// fewestMoves returns the fewest moves that bring the skew of a group to its limit. fewestMoves tries every
// possible size of the smallest domain: pods leave domains that are too large and enter domains that are too
// small.
func fewestMoves(counts []int, skew int) int {
	total := 0
	for _, c := range counts {
		total += c
	}
	best := total
	for m := 0; m <= total; m++ {
		leave, arrive := 0, 0
		for _, c := range counts {
			leave += max(0, c-m-skew)
			arrive += max(0, m-c)
		}
		best = min(best, max(leave, arrive))
	}
	return best
}

func (x *goalState) applyMove(s *cluster.Snapshot, pod cluster.PodID, from, to cluster.NodeID) {
	if x.goal.Kind == plan.NodeEmpty {
		if from == x.goal.Node {
			x.left--
		}
		if to == x.goal.Node {
			x.left++
		}
		return
	}
	if x.goal.Kind == plan.NodeBelow {
		need := s.Pods[pod].Requests.Get(x.goal.Resource)
		if from == x.goal.Node {
			x.used -= need
		}
		if to == x.goal.Node {
			x.used += need
		}
		return
	}
	if !x.member[pod] {
		return
	}
	switch x.goal.Kind {
	case plan.PodAway:
		x.hasLeft, x.at = !x.hasLeft, to
		return
	case plan.PodsApart:
		x.places[pod] = to
		return
	}
	if d := x.domain[from]; d >= 0 {
		x.counts[d]--
	}
	if d := x.domain[to]; d >= 0 {
		x.counts[d]++
	}
}

// affectedBy reports whether a move can change the goal.
func (x *goalState) affectedBy(pod cluster.PodID, from, to cluster.NodeID) bool {
	ofNode := x.goal.Kind == plan.NodeBelow || x.goal.Kind == plan.NodeEmpty
	return ofNode && (x.goal.Node == from || x.goal.Node == to) || x.member[pod]
}

// change returns by how much a move changes the excess of the goal.
func (g *exhaustiveSearch) change(x *goalState, pod cluster.PodID, from, to cluster.NodeID) int64 {
	before := x.excess()
	x.applyMove(g.s, pod, from, to)
	after := x.excess()
	x.applyMove(g.s, pod, to, from)
	return after - before
}

// improvesGoals reports whether a move improves at least one goal and worsens none.
func (g *exhaustiveSearch) improvesGoals(pod cluster.PodID, from, to cluster.NodeID) bool {
	better := false
	for _, x := range g.goals {
		if !x.affectedBy(pod, from, to) {
			continue
		}
		change := g.change(x, pod, from, to)
		if change > 0 {
			return false
		}
		better = better || change < 0 && x.countsLanding(to) && !slices.Contains(x.goal.Staying, pod)
	}
	return better
}

// countsLanding reports whether a landing on the node can improve the goal. A goal about a group
// improves only in a domain that it counts.
func (x *goalState) countsLanding(to cluster.NodeID) bool {
	d := -1
	if x.domain != nil {
		d = x.domain[to]
	}
	return x.domain == nil || d >= 0 && (x.goal.Domains == nil || d < len(x.goal.Domains))
}

// couldHelp reports whether evicting the pod could help a goal.
func (g *exhaustiveSearch) couldHelp(pod cluster.PodID, from cluster.NodeID) bool {
	for _, x := range g.goals {
		if x.affectedBy(pod, from, from) && x.excess() > 0 && !slices.Contains(x.goal.Staying, pod) && (x.goal.Kind != plan.NodeBelow || g.s.Pods[pod].Requests.Get(x.goal.Resource) > 0) {
			return true
		}
	}
	return false
}

// predictedMove returns the predicted move of a pod. predictedMove returns false unless the prediction is
// confident enough and the move improves a goal.
func (g *exhaustiveSearch) predictedMove(pod cluster.PodID) (podMove, bool) {
	from := g.model.Cluster.NodeOf(pod)
	if g.moved[pod] || !g.mayEvict[pod] || from == cluster.NoNode || !g.couldHelp(pod, from) {
		return podMove{}, false
	}
	pr := g.model.Predict(pod)
	good := func(n cluster.NodeID) bool { return g.s.Nodes[n].Ready && g.improvesGoals(pod, from, n) }
	if pr.UnsupportedReason != "" || plan.Round(pr.Prob(good)) < g.opts.MinConfidence {
		return podMove{}, false
	}
	to := pr.LikeliestOf(good)
	return podMove{pod, from, to}, to != cluster.NoNode
}

func (g *exhaustiveSearch) applyMove(h podMove) {
	g.model.Cluster.Move(h.pod, h.to)
	for _, x := range g.goals {
		if x.affectedBy(h.pod, h.from, h.to) {
			x.applyMove(g.s, h.pod, h.from, h.to)
		}
	}
	g.moved[h.pod] = true
	g.steps = append(g.steps, h)
}

func (g *exhaustiveSearch) undoMove() {
	h := g.steps[len(g.steps)-1]
	g.steps = g.steps[:len(g.steps)-1]
	g.model.Cluster.Move(h.pod, h.from)
	for _, x := range g.goals {
		if x.affectedBy(h.pod, h.from, h.to) {
			x.applyMove(g.s, h.pod, h.to, h.from)
		}
	}
	g.moved[h.pod] = false
}

// excess returns the weighted sum over all goals of the remaining excess, as a share of the initial excess.
func (g *exhaustiveSearch) excess() (all float64) {
	for _, x := range g.goals {
		all += x.goal.Weight * float64(x.excess()) / float64(x.initial)
	}
	return all
}
