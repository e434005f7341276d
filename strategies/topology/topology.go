// Package topology finds the domains of node labels over which groups of pods can spread, and counts the pods of a
// group in each domain. It reads a snapshot and caches what pods with the same node constraints share. It never states
// goals.
package topology

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/target"
)

// Cache contains the domains of topology keys, and the domains that pods can reach, for each distinct set of node
// constraints. Thousands of workloads share a few sets of constraints. Checking every node for every workload would
// take a hundred times as long as the rest of a pass. A Cache is not safe for concurrent use.
type Cache struct {
	snapshot *cluster.Snapshot
	scope    cluster.Scope
	targets  *target.Targets
	byKey    map[string]*Domains
}

// NewCache returns an empty cache for the nodes of a snapshot.
func NewCache(s *cluster.Snapshot, scope cluster.Scope) *Cache {
	return &Cache{s, scope, target.New(s, scope, nil), map[string]*Domains{}}
}

// Domains is one topology key with its values, the domains. Index i stands for domain Values[i].
type Domains struct {
	Values                 []string          // sorted
	ofNode                 []int32           // by node: the index of its domain, or none without the label
	nodes                  [][]*cluster.Node // by domain: the nodes in scope
	targets                *target.Targets
	reachableByConstraints map[string]*Set  // by node constraints of a pod
	unions                 map[[2]*Set]*Set // of two sets
	counter                Counter
}

// Set is a set of domains. Sets with the same domains may share their slices, so they are read-only.
type Set struct {
	contains []bool // by domain
	Indexes  []int32
	Values   []string // sorted
}

// Has reports whether the set contains a domain.
func (s *Set) Has(domain int32) bool { return s.contains[domain] }

// none is the domain of a node without the label.
const none = -1

// Domains returns the domains of a topology key.
func (c *Cache) Domains(key string) *Domains {
	if d := c.byKey[key]; d != nil {
		return d
	}
	d := &Domains{targets: c.targets, ofNode: make([]int32, len(c.snapshot.Nodes)), reachableByConstraints: map[string]*Set{}, unions: map[[2]*Set]*Set{}}
	index := map[string]int32{}
	for i := range c.snapshot.Nodes {
		if v, ok := c.snapshot.Nodes[i].Label(key); ok {
			index[v] = 0
		}
	}
	d.Values = slices.Sorted(maps.Keys(index))
	for i, v := range d.Values {
		index[v] = int32(i)
	}
	d.nodes, d.counter.Pods = make([][]*cluster.Node, len(d.Values)), make([]int, len(d.Values))
	for i := range c.snapshot.Nodes {
		n := &c.snapshot.Nodes[i]
		v, ok := n.Label(key)
		if !ok {
			d.ofNode[i] = none
			continue
		}
		d.ofNode[i] = index[v]
		if c.scope.HasNode(n) {
			d.nodes[index[v]] = append(d.nodes[index[v]], n)
		}
	}
	c.byKey[key] = d
	return d
}

// OfNode returns the domain of a node. It returns false if the node does not have the label.
func (d *Domains) OfNode(n cluster.NodeID) (int32, bool) { return d.ofNode[n], d.ofNode[n] != none }

// Representatives returns one pod of each controller and of each kind of targets (target.Pods), and every pod without a
// controller. The pods of one controller may differ in their targets, as each may have its own volumes. The kind
// and the name of a controller may be empty.
func (c *Cache) Representatives(pods []cluster.PodID) (out []*cluster.Pod) {
	type key struct {
		kind, name string
		targets    int
	}
	var last *cluster.Pod // a fast path: pods of one template are usually adjacent
	lastTargets, seen := 0, map[key]bool{}
	for _, id := range pods {
		p := &c.snapshot.Pods[id]
		targets := c.targets.Of(p).Number
		if last != nil && p.HasTemplateOf(last) && targets == lastTargets {
			continue
		}
		last, lastTargets = p, targets
		if p.Controller == nil {
			out = append(out, p)
		} else if k := (key{p.Controller.Kind, p.Controller.Name, targets}); !seen[k] {
			seen[k] = true
			out = append(out, p)
		}
	}
	return out
}

// ReachableBy returns the domains with nodes in scope on which one of the pods can run and to which it may be sent.
// For the pods of a workload, use their Representatives. pods must not be empty.
func (d *Domains) ReachableBy(pods []*cluster.Pod) *Set {
	all := d.reachableByPod(pods[0])
	for _, p := range pods[1:] {
		if r := d.reachableByPod(p); r != all {
			all = d.union(all, r)
		}
	}
	return all
}

func (d *Domains) reachableByPod(p *cluster.Pod) *Set {
	key := nodeConstraints(&p.Object.Spec, d.targets.Of(p).Number)
	if r := d.reachableByConstraints[key]; r != nil {
		return r
	}
	canRun := d.targets.CanRunFunc(p)
	r := d.NewSet(func(domain int32) bool { return slices.ContainsFunc(d.nodes[domain], canRun) })
	d.reachableByConstraints[key] = r
	return r
}

func (d *Domains) union(x, y *Set) *Set {
	pair := [2]*Set{x, y}
	if d.unions[pair] == nil {
		d.unions[pair] = d.NewSet(func(domain int32) bool { return x.contains[domain] || y.contains[domain] })
	}
	return d.unions[pair]
}

// WithoutEmpty returns the set without the domain whose value is empty.
func (d *Domains) WithoutEmpty(s *Set) *Set {
	if len(s.Values) == 0 || s.Values[0] != "" {
		return s
	}
	return d.NewSet(func(domain int32) bool { return s.contains[domain] && d.Values[domain] != "" })
}

// NewSet returns the set of the domains for which has returns true.
func (d *Domains) NewSet(has func(domain int32) bool) *Set {
	s := &Set{contains: make([]bool, len(d.Values))}
	for i := range d.Values {
		if has(int32(i)) {
			s.contains[i] = true
			s.Indexes, s.Values = append(s.Indexes, int32(i)), append(s.Values, d.Values[i])
		}
	}
	return s
}

// Counter holds the number of pods in each domain.
type Counter struct {
	Pods  []int   // by domain
	Used  []int32 // the domains with pods
	Total int
}

// Count calls f with the number of pods in each domain of the set. Pods on nodes that notCounted marks are left out;
// notCounted may be nil. The counter is only valid during the call.
func (d *Domains) Count(s *cluster.Snapshot, pods []cluster.PodID, in *Set, notCounted []bool, f func(*Counter)) {
	c := &d.counter
	for _, id := range pods {
		n := s.Pods[id].Node
		if v := d.ofNode[n]; v != none && in.contains[v] && (notCounted == nil || !notCounted[n]) {
			if c.Pods[v] == 0 {
				c.Used = append(c.Used, v)
			}
			c.Pods[v]++
			c.Total++
		}
	}
	f(c)
	for _, v := range c.Used {
		c.Pods[v] = 0
	}
	c.Used, c.Total = c.Used[:0], 0
}

// Most returns the number of pods in the fullest domain.
func (c *Counter) Most() int {
	most := 0
	for _, v := range c.Used {
		most = max(most, c.Pods[v])
	}
	return most
}
