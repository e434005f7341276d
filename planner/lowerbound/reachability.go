package lowerbound

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// reachability computes where replacements can land under any plan, however many other pods leave. If reachability
// excludes a node, no plan can reach that node. reachability applies only the filters that do not depend on other
// pods. Resources and node goals are checked as if every evictable pod had left. A node goal allows a pod if the node
// then holds at most the limit, or at most its initial amount.
type reachability struct {
	result *search.Result
	// start holds the goals before the plan that limit every move: not those of soft strategies.
	start   *goal.Tracker
	staying []stayingPods // by node
	// begin holds the requests and the number of the pods at the start, on the nodes that earlier moves change.
	begin map[cluster.NodeID]stayingPods
	// movedEarlier holds the pods that earlier moves take to another node.
	movedEarlier map[cluster.PodID]bool
	all          []cluster.NodeID
	// sorted holds the nodes of the latest query, grouped by domain.
	sorted domainNodes
	// others is the latest result of outsideDomain.
	others []cluster.NodeID
	// could caches the result of CouldRun for last, the pod of the latest query.
	last  cluster.PodID
	could func(cluster.NodeID, *cluster.Resources, int64) bool
	// targets caches, by equivalence class, the targets among all nodes.
	targets map[int]classTargets
	// marked caches the targets among the marked nodes of PodAway goals.
	marked map[targetsOfClass]classTargets
	// markedNodes caches the lists of marked nodes, by the first mark.
	markedNodes map[*bool][]cluster.NodeID
	// outside caches the targets outside a domain of a CountAtMost.
	outside map[outsideOfClass]classTargets
	// needNoPlace holds the pods that may leave although no node takes their replacements.
	needNoPlace map[cluster.PodID]bool
	// takes is the latest result of domainsThatTake, for takesOf.
	takes   []bool
	takesOf *goal.CountMeasure
	// strategies are the strategies with requested goals; nil if no strategy has rules of its own.
	strategies []int
}

// classTargets holds the first two nodes of a list that can hold pods of an equivalence class. If a pod runs on one
// of the two nodes, the other node is its target.
type classTargets struct {
	nodes [2]cluster.NodeID
}

func (h *classTargets) hasOtherThan(from cluster.NodeID) bool {
	return h.nodes[0] != cluster.NoNode && h.nodes[0] != from || h.nodes[1] != cluster.NoNode && h.nodes[1] != from
}

// stayingPods holds the requests and the number of the pods on a node that no plan may evict.
type stayingPods struct {
	known     bool
	requested cluster.Resources
	pods      int64
}

// amount returns the amount of the pods together, by a measure of the requests of all pods.
func (p *stayingPods) amount(a *cluster.Amounts) int64 {
	if a.Measure.Resource == string(corev1.ResourcePods) {
		return p.pods
	}
	return p.requested.Get(a.Measure.Resource)
}

func newReachability(c *search.Result, start *goal.Tracker) *reachability {
	r := &reachability{result: c, start: start, staying: make([]stayingPods, len(c.Snapshot.Nodes)), strategies: c.Account.RequestingStrategies(),
		outside: map[outsideOfClass]classTargets{}, targets: map[int]classTargets{}, marked: map[targetsOfClass]classTargets{}, markedNodes: map[*bool][]cluster.NodeID{}}
	r.needNoPlace = podsWithoutPlace(c, start)
	if start.HasSoft() {
		r.start = start.ForTurn(goal.FirmTurn, start.Goals, c.Problem.EarlierMoves(), nil)
	}
	for i := range c.Snapshot.Nodes {
		r.all = append(r.all, cluster.NodeID(i))
	}
	r.applyEarlierMoves()
	return r
}

func (r *reachability) applyEarlierMoves() {
	r.begin, r.movedEarlier = map[cluster.NodeID]stayingPods{}, map[cluster.PodID]bool{}
	for _, m := range r.result.Problem.Earlier {
		if r.result.Snapshot.Pods[m.Pod].Terminal {
			continue // it uses nothing
		}
		r.movedEarlier[m.Pod] = true
		requests := r.result.Snapshot.Pods[m.Pod].Requests
		from := r.atStart(m.From)
		from.requested = from.requested.Clone()
		from.requested.Sub(requests)
		from.pods--
		r.begin[m.From] = from
		if m.Landing.To == cluster.NoNode {
			continue
		}
		to := r.atStart(m.Landing.To)
		to.requested = to.requested.Clone()
		to.requested.Add(requests)
		to.pods++
		r.begin[m.Landing.To] = to
	}
}

// atStart returns the requests and the number of the pods that goals count on the node at the start of the search.
func (r *reachability) atStart(n cluster.NodeID) stayingPods {
	if changed, is := r.begin[n]; is {
		return changed
	}
	node := &r.result.Snapshot.Nodes[n]
	requested := node.Requested
	if node.LeavingPods > 0 {
		requested = requested.Clone()
		requested.Sub(node.Leaving)
	}
	return stayingPods{true, requested, int64(len(node.Pods)) - node.LeavingPods}
}

// mayLeave reports whether the pod may be evicted for any strategy. A strategy that may not move the pod still gains if
// the pod moves for another.
func (r *reachability) mayLeave(pod cluster.PodID) bool {
	return !r.result.Account.Eligibility.RefuseForAll(r.strategies, pod)
}

// podsWithoutPlace returns the pods that a strategy with landing: notRequired may move for an unmet
// goal. They lower the excess of every goal about the node that they leave, even if no node takes
// their replacements.
func podsWithoutPlace(c *search.Result, start *goal.Tracker) map[cluster.PodID]bool {
	var out map[cluster.PodID]bool
	for i := range start.Goals {
		g := &start.Goals[i]
		if g.Constraint || start.Excess(i) == 0 || !c.Options.NeedsNoPlace(g.Strategy) {
			continue
		}
		for _, pod := range g.Pods {
			if out == nil {
				out = map[cluster.PodID]bool{}
			}
			out[pod] = true
		}
	}
	return out
}

// domainNodes holds the nodes of each counted domain and the nodes outside the counted domains. Groups that count the
// same domains share one domainNodes.
type domainNodes struct {
	k       *goal.SkewMeasure
	in      [][]cluster.NodeID
	outside []cluster.NodeID
	targets map[domainOfClass]classTargets
}

// domainOfClass identifies a domain and an equivalence class.
type domainOfClass struct{ domain, class int }

// byDomain returns the nodes by the domains of the group. byDomain reuses the latest result, because nearly all
// groups count the same domains.
func (r *reachability) byDomain(k *goal.SkewMeasure) *domainNodes {
	if was := r.sorted.k; was != nil && was.SameNodes(k) {
		return &r.sorted
	}
	r.sorted = domainNodes{k: k, in: make([][]cluster.NodeID, len(k.Counts)), targets: map[domainOfClass]classTargets{}}
	for _, n := range r.all {
		if z, counted := k.DomainIndex(n); counted {
			r.sorted.in[z] = append(r.sorted.in[z], n)
		} else {
			r.sorted.outside = append(r.sorted.outside, n)
		}
	}
	return &r.sorted
}

// outsideDomain returns the nodes of all counted domains but one. The next call overwrites the list.
func (r *reachability) outsideDomain(k *goal.SkewMeasure, domain int) []cluster.NodeID {
	r.others = r.others[:0]
	for z, nodes := range r.byDomain(k).in {
		if z != domain {
			r.others = append(r.others, nodes...)
		}
	}
	return r.others
}

// couldRun returns the result of CouldRun for the pod, and caches the latest one.
func (r *reachability) couldRun(pod cluster.PodID) func(cluster.NodeID, *cluster.Resources, int64) bool {
	if r.could == nil || r.last != pod {
		r.last, r.could = pod, r.result.End.Model.CouldRun(pod)
	}
	return r.could
}

// canRunElsewhere reports whether the pod can run on another node, or needs no place. The caller
// must check that the pod may be evicted.
func (r *reachability) canRunElsewhere(pod cluster.PodID) bool {
	return r.needNoPlace[pod] ||
		canClassRunOnAny(r, r.targets, r.result.End.ClassOf(pod), pod, func() []cluster.NodeID { return r.all })
}

// canEnterDomain reports whether the pod can run on another node in domain z. The caller must check that the pod may
// be evicted.
func (r *reachability) canEnterDomain(d *domainNodes, z int, pod cluster.PodID) bool {
	key := domainOfClass{z, r.result.End.ClassOf(pod)}
	return canClassRunOnAny(r, d.targets, key, pod, func() []cluster.NodeID { return d.in[z] })
}

// canClassRunOnAny returns the same as canRunOnAny and caches the result for the key, which
// identifies the nodes and the equivalence class of the pod. Pods of one class have equal requests;
// their targets differ only by their own nodes.
func canClassRunOnAny[K comparable](r *reachability, cache map[K]classTargets, key K, pod cluster.PodID, nodes func() []cluster.NodeID) bool {
	if r.result.End.ClassOf(pod) < 0 {
		return r.canRunOnAny(pod, nodes())
	}
	h, known := cache[key]
	if !known {
		h = r.classTargetsIn(pod, nodes())
		cache[key] = h
	}
	return h.hasOtherThan(r.result.Snapshot.Pods[pod].Node)
}

// classTargetsIn returns the targets among the nodes for the equivalence class of the pod.
func (r *reachability) classTargetsIn(pod cluster.PodID, nodes []cluster.NodeID) classTargets {
	h := classTargets{[2]cluster.NodeID{cluster.NoNode, cluster.NoNode}}
	could, may, found := r.couldRun(pod), r.result.End.MayTake(pod), 0
	for _, n := range nodes {
		if may[n] && r.couldHold(pod, n, could) {
			h.nodes[found] = n
			if found++; found == len(h.nodes) {
				break
			}
		}
	}
	return h
}

// canRunOnAny reports whether the pod can run on one of these nodes other than its own.
func (r *reachability) canRunOnAny(pod cluster.PodID, nodes []cluster.NodeID) bool {
	if len(nodes) == 0 {
		return false
	}
	could := r.couldRun(pod)
	return r.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool { return r.couldHold(pod, n, could) })
}

// couldHold reports whether the node can hold the pod, either now or after all evictable pods have left.
func (r *reachability) couldHold(pod cluster.PodID, n cluster.NodeID, could func(cluster.NodeID, *cluster.Resources, int64) bool) bool {
	now := r.atStart(n)
	if could(n, &now.requested, now.pods) && r.goalsAllow(pod, n, &now) {
		return true
	}
	least := r.stayingOn(n)
	return could(n, &least.requested, least.pods) && r.goalsAllow(pod, n, least)
}

// goalsAllow reports whether the goals about the node allow the pod together with the given pods. A goal allows
// amounts up to the larger of its limit and the node's initial amount. goalsAllow ignores goals by load and goals
// that count selected pods, because their least amounts are unknown.
func (r *reachability) goalsAllow(pod cluster.PodID, n cluster.NodeID, beside *stayingPods) bool {
	begin := r.atStart(n)
	for i := range r.start.Headroom {
		a, room := r.start.Headroom[i].Amounts, r.start.Headroom[i].ByNode
		if a.Measure.ByUsage || a.Measure.Pods != nil {
			continue
		}
		size := a.Contribution(pod, cluster.NoNode)
		if size > 0 && room[n] != goal.Unbounded && beside.amount(a)+size > begin.amount(a)+max(0, room[n]) {
			return false
		}
	}
	return true
}

func (r *reachability) stayingOn(n cluster.NodeID) *stayingPods {
	at := &r.staying[n]
	if at.known {
		return at
	}
	at.known = true
	for _, id := range r.result.Snapshot.Nodes[n].Pods {
		if p := &r.result.Snapshot.Pods[id]; p.Departure == cluster.Stays && !r.mayLeave(id) && !r.movedEarlier[id] {
			at.pods++
			at.requested.Add(p.Requests)
		}
	}
	return at
}

// runsIfEmpty reports whether the pod can run on one of these nodes, other than its own, if that node is empty.
func (r *reachability) runsIfEmpty(pod cluster.PodID, nodes []cluster.NodeID) bool {
	could, none := r.couldRun(pod), cluster.Resources{}
	return r.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool { return could(n, &none, 0) })
}

func (r *reachability) runsWithoutVolumes(pod cluster.PodID, nodes []cluster.NodeID) bool {
	runs := filter.CanRunFunc(r.result.Snapshot.Pods[pod].Object)
	return r.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool { return runs(&r.result.Snapshot.Nodes[n]) })
}

func (r *reachability) anyOtherNode(pod cluster.PodID, nodes []cluster.NodeID, pass func(cluster.NodeID) bool) bool {
	may := r.result.End.MayTake(pod)
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != r.result.Snapshot.Pods[pod].Node && may[n] && pass(n)
	})
}
