package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
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
}

// held is what the pods request that stay on a node whatever the plan.
type held struct {
	known     bool
	requested cluster.Resources
	pods      int64
}

func (c *search) newReach(start *tracker) *reach {
	return &reach{c, start, make([]held, len(c.s.Nodes))}
}

// leaves reports whether the pod may leave at all.
func (r *reach) leaves(pod cluster.PodID) bool {
	_, refused := r.c.verdict.of(pod)
	return !refused
}

// anywhere reports whether the pod could end on another node, of those that pass.
func (r *reach) anywhere(pod cluster.PodID, pass func(cluster.NodeID) bool) bool {
	from, could := r.c.s.Pods[pod].Node, r.c.world.CouldRun(pod)
	for i := range r.c.s.Nodes {
		n := cluster.NodeID(i)
		if n == from || !r.c.ready[n] || !pass(n) {
			continue
		}
		// Most nodes can take it as they are, so that nobody need ask who could leave.
		now := held{true, r.c.s.Nodes[n].Requested, int64(len(r.c.s.Nodes[n].Pods))}
		if could(n, &now.requested, now.pods) && r.bears(pod, n, &now) {
			return true
		}
		if least := r.staying(n); could(n, &least.requested, least.pods) && r.bears(pod, n, least) {
			return true
		}
	}
	return false
}

func everyNode(cluster.NodeID) bool { return true }

// bears reports whether no goal about the node is worse off than at first when the
// pod stands there beside those.
func (r *reach) bears(pod cluster.PodID, n cluster.NodeID, beside *held) bool {
	for name, room := range r.start.headroom {
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

// runs reports whether the pod could run on another node, of those that pass, were it
// empty; selects, whether it could but for its volumes.
func (r *reach) runs(pod cluster.PodID, pass func(cluster.NodeID) bool) bool {
	could, none := r.c.world.CouldRun(pod), cluster.Resources{}
	return r.other(pod, func(n cluster.NodeID) bool { return pass(n) && could(n, &none, 0) })
}

func (r *reach) selects(pod cluster.PodID, pass func(cluster.NodeID) bool) bool {
	runs := placement.Runs(r.c.s.Pods[pod].Object)
	return r.other(pod, func(n cluster.NodeID) bool { return pass(n) && runs(&r.c.s.Nodes[n]) })
}

func (r *reach) other(pod cluster.PodID, pass func(cluster.NodeID) bool) bool {
	for i := range r.c.s.Nodes {
		if n := cluster.NodeID(i); n != r.c.s.Pods[pod].Node && r.c.ready[n] && pass(n) {
			return true
		}
	}
	return false
}
