package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
)

// reach says where replacements could stand under any plan, however many other pods
// leave: what it denies is proven. It asks the filters that no other pod changes; and
// whether a node could hold the pod, and the goals about it bear it, once every pod
// that may leave has left. A goal is not worse off as long as its node holds no more
// than its limit, or than it held at first.
type reach struct {
	c *search
	// start are the goals as they were.
	start *tracker
	stay  []held // by node
	all   []cluster.NodeID
	// sorted are the nodes by the domains asked about last.
	sorted byDomain
	// last is the pod that was asked about last, and could what is known of it.
	last  cluster.PodID
	could func(cluster.NodeID, *cluster.Resources, int64) bool
	// homes are, by class of pods, what is known of all nodes.
	homes []home
}

// home is where pods of a class could end: the first two nodes of a list, so that one
// is left for a pod that stands on the other.
type home struct {
	known bool
	nodes [2]cluster.NodeID
}

func (h *home) beside(from cluster.NodeID) bool {
	return h.nodes[0] != cluster.NoNode && h.nodes[0] != from || h.nodes[1] != cluster.NoNode && h.nodes[1] != from
}

// held is what the pods request that stay on a node whatever the plan.
type held struct {
	known     bool
	requested cluster.Resources
	pods      int64
}

func (c *search) newReach(start *tracker) *reach {
	r := &reach{c: c, start: start, stay: make([]held, len(c.s.Nodes))}
	for i := range c.s.Nodes {
		r.all = append(r.all, cluster.NodeID(i))
	}
	return r
}

// leaves reports whether the pod may leave at all.
func (r *reach) leaves(pod cluster.PodID) bool {
	_, refused := r.c.verdict.of(pod)
	return !refused
}

// byDomain are the nodes of each domain of groups that count the same ones, and those
// in none.
type byDomain struct {
	k       *skew
	in      [][]cluster.NodeID
	outside []cluster.NodeID
	homes   [][]home // by domain and class
}

// byDomain sorts the nodes for a group. Nearly all groups count the same domains.
func (r *reach) byDomain(k *skew) *byDomain {
	if was := r.sorted.k; was != nil && was.domains == k.domains && len(was.counts) == len(k.counts) && slices.Equal(was.slot, k.slot) {
		return &r.sorted
	}
	r.sorted = byDomain{k: k, in: make([][]cluster.NodeID, len(k.counts)), homes: make([][]home, len(k.counts))}
	for _, n := range r.all {
		if z, counted := k.domain(n); counted {
			r.sorted.in[z] = append(r.sorted.in[z], n)
		} else {
			r.sorted.outside = append(r.sorted.outside, n)
		}
	}
	return &r.sorted
}

// of is what CouldRun says of the pod.
func (r *reach) of(pod cluster.PodID) func(cluster.NodeID, *cluster.Resources, int64) bool {
	if r.could == nil || r.last != pod {
		r.last, r.could = pod, r.c.world.CouldRun(pod)
	}
	return r.could
}

// anywhere reports whether the pod, which may leave, could end on another node.
func (r *reach) anywhere(pod cluster.PodID) bool { return r.at(&r.homes, pod, r.all) }

// enters reports whether the pod, which may leave, could end in a domain, on another node.
func (r *reach) enters(d *byDomain, z int, pod cluster.PodID) bool {
	return r.at(&d.homes[z], pod, d.in[z])
}

// at is among for lists that are asked about often, found once for each class of pods:
// pods of a class request the same, and where each may stand differs by its own node alone.
func (r *reach) at(homes *[]home, pod cluster.PodID, nodes []cluster.NodeID) bool {
	class := r.c.world.ClassNumber(pod)
	if class < 0 {
		return r.among(pod, nodes)
	}
	if *homes == nil {
		*homes = make([]home, r.c.world.ClassCount())
	}
	h := &(*homes)[class]
	if !h.known {
		*h = home{true, [2]cluster.NodeID{cluster.NoNode, cluster.NoNode}}
		could, found := r.of(pod), 0
		for _, n := range nodes {
			if r.c.ready[n] && r.takes(pod, n, could) {
				h.nodes[found] = n
				if found++; found == len(h.nodes) {
					break
				}
			}
		}
	}
	return h.beside(r.c.s.Pods[pod].Node)
}

// among reports whether the pod could end on one of these nodes, other than its own.
func (r *reach) among(pod cluster.PodID, nodes []cluster.NodeID) bool {
	from, could := r.c.s.Pods[pod].Node, r.of(pod)
	for _, n := range nodes {
		if n != from && r.c.ready[n] && r.takes(pod, n, could) {
			return true
		}
	}
	return false
}

// takes reports whether a node could hold the pod. Most can as they are, so that nobody
// need ask who could leave.
func (r *reach) takes(pod cluster.PodID, n cluster.NodeID, could func(cluster.NodeID, *cluster.Resources, int64) bool) bool {
	now := held{true, r.c.s.Nodes[n].Requested, int64(len(r.c.s.Nodes[n].Pods))}
	if could(n, &now.requested, now.pods) && r.bears(pod, n, &now) {
		return true
	}
	least := r.staying(n)
	return could(n, &least.requested, least.pods) && r.bears(pod, n, least)
}

// bears reports whether no goal about the node is worse off than at first when the
// pod stands there beside those. Goals by load, and those that count selected pods,
// deny nothing here: what they would hold at least is not worked out.
func (r *reach) bears(pod cluster.PodID, n cluster.NodeID, beside *held) bool {
	for i := range r.start.headroom {
		a, room := r.start.headroom[i].amounts, r.start.headroom[i].room
		if a.Measure.ByUsage || a.Measure.Pods != nil {
			continue
		}
		name := a.Measure.Resource
		size := r.c.s.Pods[pod].Requests.Get(name)
		if size > 0 && room[n] != unbounded && beside.requested.Get(name)+size > r.c.s.Nodes[n].Requested.Get(name)+max(0, room[n]) {
			return false
		}
	}
	return true
}

func (r *reach) staying(n cluster.NodeID) *held {
	at := &r.stay[n]
	if at.known {
		return at
	}
	at.known = true
	for _, id := range r.c.s.Nodes[n].Pods {
		if p := &r.c.s.Pods[id]; !p.Terminating && !r.leaves(id) {
			at.pods++
			at.requested.Add(p.Requests)
		}
	}
	return at
}

// runs reports whether the pod could run on another node, of these, were it
// empty; selects, whether it could but for its volumes.
func (r *reach) runs(pod cluster.PodID, nodes []cluster.NodeID) bool {
	could, none := r.of(pod), cluster.Resources{}
	return r.other(pod, nodes, func(n cluster.NodeID) bool { return could(n, &none, 0) })
}

func (r *reach) selects(pod cluster.PodID, nodes []cluster.NodeID) bool {
	runs := filter.CanRunFunc(r.c.s.Pods[pod].Object)
	return r.other(pod, nodes, func(n cluster.NodeID) bool { return runs(&r.c.s.Nodes[n]) })
}

func (r *reach) other(pod cluster.PodID, nodes []cluster.NodeID, pass func(cluster.NodeID) bool) bool {
	return slices.ContainsFunc(nodes, func(n cluster.NodeID) bool {
		return n != r.c.s.Pods[pod].Node && r.c.ready[n] && pass(n)
	})
}
