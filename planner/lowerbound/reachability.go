package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Reachability computes where replacements can land under any plan, however many other pods leave. If it
// rules a node out, that is proven. Reachability applies only the filters that do not depend on other pods.
// Reachability also checks resources and node goals as if every pod that may leave has left. A node goal
// allows a pod if its node holds at most its limit, or at most its initial amount.
type Reachability struct {
	search *search.Search
	// start holds the goals as they are before the plan.
	start   *goal.Tracker
	staying []stayingPods // by node
	all     []cluster.NodeID
	// sorted holds the nodes by the domains of the latest query.
	sorted domainNodes
	// last is the pod of the latest query. could is the result of CouldRun for it.
	last  cluster.PodID
	could func(cluster.NodeID, *cluster.Resources, int64) bool
	// targets caches, by equivalence class, the targets among all nodes.
	targets []classTargets
}

// classTargets holds the first two nodes of a list that can hold pods of an equivalence class. If a pod runs
// on one of them, the other is its target.
type classTargets struct {
	known bool
	nodes [2]cluster.NodeID
}

func (h *classTargets) hasOtherThan(from cluster.NodeID) bool {
	return h.nodes[0] != cluster.NoNode && h.nodes[0] != from || h.nodes[1] != cluster.NoNode && h.nodes[1] != from
}

// stayingPods sums up the pods on a node that no plan may evict: their requests and their number.
type stayingPods struct {
	known     bool
	requested cluster.Resources
	pods      int64
}

func newReachability(c *search.Search, start *goal.Tracker) *Reachability {
	r := &Reachability{search: c, start: start, staying: make([]stayingPods, len(c.Snapshot.Nodes))}
	for i := range c.Snapshot.Nodes {
		r.all = append(r.all, cluster.NodeID(i))
	}
	return r
}

// mayLeave reports whether the eligibility rules allow the eviction of the pod.
func (r *Reachability) mayLeave(pod cluster.PodID) bool {
	_, refused := r.search.Eligibility.Refuse(pod)
	return !refused
}

// domainNodes holds the nodes of each counted domain, and the nodes outside of them. All groups that count
// the same domains share it.
type domainNodes struct {
	k       *goal.SkewMeasure
	in      [][]cluster.NodeID
	outside []cluster.NodeID
	targets [][]classTargets // by domain and equivalence class
}

// byDomain returns the nodes by the domains of the group. byDomain reuses the latest result, because nearly
// all groups count the same domains.
func (r *Reachability) byDomain(k *goal.SkewMeasure) *domainNodes {
	if was := r.sorted.k; was != nil && was.Domains == k.Domains && len(was.Counts) == len(k.Counts) && slices.Equal(was.IndexByDomain, k.IndexByDomain) {
		return &r.sorted
	}
	r.sorted = domainNodes{k: k, in: make([][]cluster.NodeID, len(k.Counts)), targets: make([][]classTargets, len(k.Counts))}
	for _, n := range r.all {
		if z, counted := k.DomainIndex(n); counted {
			r.sorted.in[z] = append(r.sorted.in[z], n)
		} else {
			r.sorted.outside = append(r.sorted.outside, n)
		}
	}
	return &r.sorted
}

// couldRun returns the result of CouldRun for the pod, and caches the latest one.
func (r *Reachability) couldRun(pod cluster.PodID) func(cluster.NodeID, *cluster.Resources, int64) bool {
	if r.could == nil || r.last != pod {
		r.last, r.could = pod, r.search.Model.CouldRun(pod)
	}
	return r.could
}

// canRunElsewhere reports whether the pod can end on another node. The pod must be one that may leave.
func (r *Reachability) canRunElsewhere(pod cluster.PodID) bool {
	return r.canClassRunOnAny(&r.targets, pod, r.all)
}

// canEnterDomain reports whether the pod can end on another node in domain z. The pod must be one that may
// leave.
func (r *Reachability) canEnterDomain(d *domainNodes, z int, pod cluster.PodID) bool {
	return r.canClassRunOnAny(&d.targets[z], pod, d.in[z])
}

// canClassRunOnAny returns the same as anyOf and caches the result for each equivalence class in homes. Pods
// of one class have equal requests; their targets differ only by their own nodes.
func (r *Reachability) canClassRunOnAny(homes *[]classTargets, pod cluster.PodID, nodes []cluster.NodeID) bool {
	class := r.search.Model.ClassNumber(pod)
	if class < 0 {
		return r.canRunOnAny(pod, nodes)
	}
	if *homes == nil {
		*homes = make([]classTargets, r.search.Model.ClassCount())
	}
	h := &(*homes)[class]
	if !h.known {
		*h = classTargets{true, [2]cluster.NodeID{cluster.NoNode, cluster.NoNode}}
		could, found := r.couldRun(pod), 0
		for _, n := range nodes {
			if r.search.Ready[n] && r.couldHold(pod, n, could) {
				h.nodes[found] = n
				if found++; found == len(h.nodes) {
					break
				}
			}
		}
	}
	return h.hasOtherThan(r.search.Snapshot.Pods[pod].Node)
}

// canRunOnAny reports whether the pod can end on one of these nodes other than its own.
func (r *Reachability) canRunOnAny(pod cluster.PodID, nodes []cluster.NodeID) bool {
	from, could := r.search.Snapshot.Pods[pod].Node, r.couldRun(pod)
	for _, n := range nodes {
		if n != from && r.search.Ready[n] && r.couldHold(pod, n, could) {
			return true
		}
	}
	return false
}

// couldHold reports whether a node can hold the pod. couldHold first tries the node as it is, which usually
// suffices. Otherwise it counts only the pods that stay.
func (r *Reachability) couldHold(pod cluster.PodID, n cluster.NodeID, could func(cluster.NodeID, *cluster.Resources, int64) bool) bool {
	now := stayingPods{true, r.search.Snapshot.Nodes[n].Requested, int64(len(r.search.Snapshot.Nodes[n].Pods))}
	if could(n, &now.requested, now.pods) && r.goalsAllow(pod, n, &now) {
		return true
	}
	least := r.stayingOn(n)
	return could(n, &least.requested, least.pods) && r.goalsAllow(pod, n, least)
}

// goalsAllow reports whether the goals about the node allow the pod together with the given pods. A goal
// allows it up to the larger of its limit and the node's initial amount. The function ignores goals by load
// and goals that count selected pods, because their least amounts are unknown.
func (r *Reachability) goalsAllow(pod cluster.PodID, n cluster.NodeID, beside *stayingPods) bool {
	for i := range r.start.Headroom {
		a, room := r.start.Headroom[i].Amounts, r.start.Headroom[i].ByNode
		if a.Measure.ByUsage || a.Measure.Pods != nil {
			continue
		}
		name := a.Measure.Resource
		size := r.search.Snapshot.Pods[pod].Requests.Get(name)
		if size > 0 && room[n] != goal.Unbounded && beside.requested.Get(name)+size > r.search.Snapshot.Nodes[n].Requested.Get(name)+max(0, room[n]) {
			return false
		}
	}
	return true
}

func (r *Reachability) stayingOn(n cluster.NodeID) *stayingPods {
	at := &r.staying[n]
	if at.known {
		return at
	}
	at.known = true
	for _, id := range r.search.Snapshot.Nodes[n].Pods {
		if p := &r.search.Snapshot.Pods[id]; !p.Terminating && !r.mayLeave(id) {
			at.pods++
			at.requested.Add(p.Requests)
		}
	}
	return at
}

// runsIfEmpty reports whether the pod can run on one of these nodes, other than its own, if that node is
// empty.
func (r *Reachability) runsIfEmpty(pod cluster.PodID, nodes []cluster.NodeID) bool {
	could, none := r.couldRun(pod), cluster.Resources{}
	return r.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool { return could(n, &none, 0) })
}

func (r *Reachability) runsWithoutVolumes(pod cluster.PodID, nodes []cluster.NodeID) bool {
	runs := filter.CanRunFunc(r.search.Snapshot.Pods[pod].Object)
	return r.anyOtherNode(pod, nodes, func(n cluster.NodeID) bool { return runs(&r.search.Snapshot.Nodes[n]) })
}

func (r *Reachability) anyOtherNode(pod cluster.PodID, nodes []cluster.NodeID, pass func(cluster.NodeID) bool) bool {
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != r.search.Snapshot.Pods[pod].Node && r.search.Ready[n] && pass(n)
	})
}
