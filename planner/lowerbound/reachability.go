package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Reachability says where replacements could stand under any plan, however many other pods
// leave: what it denies is proven. It asks the filters that no other pod changes; and
// whether a node could hold the pod, and the goals about it bear it, once every pod
// that may leave has left. A goal is not worse off as long as its node holds no more
// than its limit, or than it held at first.
type Reachability struct {
	search *search.Search
	// start are the goals as they were.
	start   *goal.Tracker
	staying []stayingPods // by node
	all     []cluster.NodeID
	// sorted are the nodes by the domains asked about last.
	sorted byDomain
	// last is the pod that was asked about last, and could what is known of it.
	last  cluster.PodID
	could func(cluster.NodeID, *cluster.Resources, int64) bool
	// homes are, by class of pods, what is known of all nodes.
	homes []classTargets
}

// classTargets is where pods of a class could end: the first two nodes of a list, so that one
// is left for a pod that stands on the other.
type classTargets struct {
	known bool
	nodes [2]cluster.NodeID
}

func (h *classTargets) elsewhere(from cluster.NodeID) bool {
	return h.nodes[0] != cluster.NoNode && h.nodes[0] != from || h.nodes[1] != cluster.NoNode && h.nodes[1] != from
}

// stayingPods is what the pods request that stay on a node whatever the plan.
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

// mayLeave reports whether the pod may leave at all.
func (r *Reachability) mayLeave(pod cluster.PodID) bool {
	_, refused := r.search.Eligibility.Refuse(pod)
	return !refused
}

// byDomain are the nodes of each domain of groups that count the same ones, and those
// in none.
type byDomain struct {
	k       *goal.SkewMeasure
	in      [][]cluster.NodeID
	outside []cluster.NodeID
	homes   [][]classTargets // by domain and class
}

// byDomain sorts the nodes for a group. Nearly all groups count the same domains.
func (r *Reachability) byDomain(k *goal.SkewMeasure) *byDomain {
	if was := r.sorted.k; was != nil && was.Domains == k.Domains && len(was.Counts) == len(k.Counts) && slices.Equal(was.IndexByDomain, k.IndexByDomain) {
		return &r.sorted
	}
	r.sorted = byDomain{k: k, in: make([][]cluster.NodeID, len(k.Counts)), homes: make([][]classTargets, len(k.Counts))}
	for _, n := range r.all {
		if z, counted := k.DomainIndex(n); counted {
			r.sorted.in[z] = append(r.sorted.in[z], n)
		} else {
			r.sorted.outside = append(r.sorted.outside, n)
		}
	}
	return &r.sorted
}

// couldRun is what CouldRun says of the pod.
func (r *Reachability) couldRun(pod cluster.PodID) func(cluster.NodeID, *cluster.Resources, int64) bool {
	if r.could == nil || r.last != pod {
		r.last, r.could = pod, r.search.Model.CouldRun(pod)
	}
	return r.could
}

// anywhere reports whether the pod, which may leave, could end on another node.
func (r *Reachability) anywhere(pod cluster.PodID) bool { return r.anyOfClass(&r.homes, pod, r.all) }

// enters reports whether the pod, which may leave, could end in a domain, on another node.
func (r *Reachability) enters(d *byDomain, z int, pod cluster.PodID) bool {
	return r.anyOfClass(&d.homes[z], pod, d.in[z])
}

// anyOfClass is among for lists that are asked about often, found once for each class of pods:
// pods of a class request the same, and where each may stand differs by its own node alone.
func (r *Reachability) anyOfClass(homes *[]classTargets, pod cluster.PodID, nodes []cluster.NodeID) bool {
	class := r.search.Model.ClassNumber(pod)
	if class < 0 {
		return r.anyOf(pod, nodes)
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
	return h.elsewhere(r.search.Snapshot.Pods[pod].Node)
}

// anyOf reports whether the pod could end on one of these nodes, other than its own.
func (r *Reachability) anyOf(pod cluster.PodID, nodes []cluster.NodeID) bool {
	from, could := r.search.Snapshot.Pods[pod].Node, r.couldRun(pod)
	for _, n := range nodes {
		if n != from && r.search.Ready[n] && r.couldHold(pod, n, could) {
			return true
		}
	}
	return false
}

// couldHold reports whether a node could hold the pod. Most can as they are, so that nobody
// need ask who could leave.
func (r *Reachability) couldHold(pod cluster.PodID, n cluster.NodeID, could func(cluster.NodeID, *cluster.Resources, int64) bool) bool {
	now := stayingPods{true, r.search.Snapshot.Nodes[n].Requested, int64(len(r.search.Snapshot.Nodes[n].Pods))}
	if could(n, &now.requested, now.pods) && r.goalsAllow(pod, n, &now) {
		return true
	}
	least := r.stayingOn(n)
	return could(n, &least.requested, least.pods) && r.goalsAllow(pod, n, least)
}

// goalsAllow reports whether no goal about the node is worse off than at first when the
// pod stands there beside those. Goals by load, and those that count selected pods,
// deny nothing here: what they would hold at least is not worked out.
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

// runsIfEmpty reports whether the pod could run on another node, of these, were it
// empty; selects, whether it could but for its volumes.
func (r *Reachability) runsIfEmpty(pod cluster.PodID, nodes []cluster.NodeID) bool {
	could, none := r.couldRun(pod), cluster.Resources{}
	return r.other(pod, nodes, func(n cluster.NodeID) bool { return could(n, &none, 0) })
}

func (r *Reachability) runsWithoutVolumes(pod cluster.PodID, nodes []cluster.NodeID) bool {
	runs := filter.CanRunFunc(r.search.Snapshot.Pods[pod].Object)
	return r.other(pod, nodes, func(n cluster.NodeID) bool { return runs(&r.search.Snapshot.Nodes[n]) })
}

func (r *Reachability) other(pod cluster.PodID, nodes []cluster.NodeID, pass func(cluster.NodeID) bool) bool {
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != r.search.Snapshot.Pods[pod].Node && r.search.Ready[n] && pass(n)
	})
}
