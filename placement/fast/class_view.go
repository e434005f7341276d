package fast

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// nodeGroups divides the nodes into groups for a class. Nodes of a group differ only in free
// resources, images and the pods counted per node. Classes with the same node checks, topology keys
// and profile share the groups, which are read-only.
type nodeGroups struct {
	group     []int32          // by position; noGroup: the pod cannot run there
	nodes     []cluster.NodeID // by group: one of its nodes
	all       []uint64         // bit set of the positions of all groups
	bits      [][]uint64       // by group: bit set of its positions, without the words before and after them
	size      []int32          // by group: number of its nodes
	firstWord []int            // by group: number of words before those of bits
}

const noGroup = -1

// classView holds the data of a class for its predictions.
type classView struct {
	groups       *nodeGroups
	open         []uint64                 // bit set of the positions of nodes that the pod fits on if they are empty
	others       []otherRequest           // requests of resources other than CPU and memory
	checksNodes  bool                     // filters examine each node, because they read more than free amounts
	estimates    bool                     // estimates bound the fixed scores; else every feasible node is scored
	anti         []cycle.TermWithTopology // terms whose domains contain several nodes
	scored       []cycle.TermWithTopology
	antiByNode   []cycle.TermWithTopology // terms whose domains are single nodes
	scoredByNode []cycle.TermWithTopology
	plugins      []score.Plugin   // of the profile; nil with estimates
	unspread     []cluster.NodeID // nodes whose score for soft constraints is 0, because they lack a topology key
}

// otherRequest is the requested amount of a resource, and the free amounts by position.
type otherRequest struct {
	free   []int64
	amount int64
}

// hasOthers reports whether the node at an open position has the other requested resources free.
func (v *classView) hasOthers(place int) bool {
	for i := range v.others {
		if v.others[i].free[place] < v.others[i].amount {
			return false
		}
	}
	return true
}

// GroupCache caches the node groups and the classView of each class until the hints on nodes
// change.
type GroupCache struct {
	groups map[string]*nodeGroups
	views  []*classView // by class; nil: not built
}

func NewGroupCache(classes int) GroupCache {
	return GroupCache{groups: map[string]*nodeGroups{}, views: make([]*classView, classes)}
}

// Clone copies the node groups. The copy has no class views, because these refer to the pods of the
// model.
func (g *GroupCache) Clone() GroupCache {
	return GroupCache{groups: maps.Clone(g.groups), views: make([]*classView, len(g.views))}
}

// Clear empties the cache. The caller must call Clear when hints on nodes change.
func (g *GroupCache) Clear() {
	clear(g.groups)
	clear(g.views)
}

// viewOf returns the classView of the class, and builds it on first use.
func (g *GroupCache) viewOf(nodes *nodeResources, in *cycle.Replacement) *classView {
	view := &g.views[in.Class.Number]
	if *view == nil {
		*view = g.newClassView(nodes, in)
	}
	return *view
}

// hasEstimates reports whether the estimates of package fast bound the fixed scores of the class: the
// score plugins are the default ones, and their weights are small enough for the bits of an estimate.
func hasEstimates(in *cycle.Replacement) bool {
	p := in.Profile
	x := &p.Weights
	return !p.ScoresUsage() && p.FitStrategy.IsDefault() && len(p.BalancedResources) == 0 && in.Volumes.Score == nil &&
		in.CheckedRequests != nil && x.ResourcesFit+x.BalancedAllocation+x.ImageLocality <= 100
}

// needsNodeChecks reports whether filters of the class read more than free amounts, properties of nodes, and
// counts of pods that nodesExcludedByPods reads.
func needsNodeChecks(in *cycle.Replacement) bool {
	if len(in.Ports)+len(in.Disks)+len(in.Volumes.Attach)+len(in.Volumes.ExclusiveClaims) > 0 {
		return true
	}
	refusesEmptyNodes := func(c cycle.SpreadConstraint) bool { return c.Topology.OneNodePerDomain && c.SelfMatch > c.MaxSkew }
	isByNode := func(t cycle.TermWithTopology) bool { return t.Topology.OneNodePerDomain }
	return slices.ContainsFunc(in.Spread.Hard, refusesEmptyNodes) || slices.ContainsFunc(in.InterPod.Required, isByNode)
}

// newClassView sorts the terms by the size of their domains, and the nodes into groups.
func (g *GroupCache) newClassView(nodes *nodeResources, in *cycle.Replacement) *classView {
	s := &classView{groups: g.groupsOf(nodes.model, in), checksNodes: needsNodeChecks(in)}
	s.open, s.estimates = s.groups.all, nodes.exact && hasEstimates(in)
	others := cmp.Or(in.CheckedRequests, &cluster.Resources{}).Clone()
	others.MilliCPU, others.MemoryBytes = 0, 0 // find compares them
	for _, name := range others.Names() {
		if amount := others.Get(name); amount > 0 {
			s.others = append(s.others, otherRequest{nodes.freeOf(name), amount})
		}
	}
	v := &in.Volumes
	if len(s.others) > 0 || v.Bindable != nil || v.RefusedReason != "" || in.FeaturesOK != nil {
		s.open = slices.Clone(s.open)
		for place, n := range nodes.model.NodeOrder {
			if !filter.CouldRun(nodes.model, in, n, &cluster.Resources{}, 0) {
				s.open[place>>6] &^= 1 << (place & 63)
			}
		}
	}
	for _, t := range slices.Concat(in.InterPod.Anti, in.InterPod.ExistingAnti) {
		if t.Topology.OneNodePerDomain {
			s.antiByNode = append(s.antiByNode, t)
		} else {
			s.anti = append(s.anti, t)
		}
	}
	for _, t := range in.InterPod.Scored {
		switch {
		case in.Profile.Weights.InterPodAffinity == 0:
		case t.Topology.OneNodePerDomain:
			s.scoredByNode = append(s.scoredByNode, t)
		default:
			s.scored = append(s.scored, t)
		}
	}
	if !s.estimates {
		s.plugins = score.Plugins(in.Profile)
	}
	for n, ok := range in.CanRun {
		if ok && in.Spread.RequireAllKeys && !in.Spread.SoftKeyNodes[n] {
			s.unspread = append(s.unspread, cluster.NodeID(n))
		}
	}
	return s
}

// groupsOf returns the node groups of a class.
func (g *GroupCache) groupsOf(m *model.Cluster, in *cycle.Replacement) *nodeGroups {
	topologies := topologiesOf(in)
	key := binary.AppendVarint(nil, int64(in.NodeChecks.ID))
	for _, t := range topologies {
		id := int64(t.ID) << 1
		if t.byDomain {
			id++
		}
		key = binary.AppendVarint(key, id)
	}
	groups, known := g.groups[string(key)]
	if !known {
		groups = newNodeGroups(m, in, topologies)
		g.groups[string(key)] = groups
	}
	return groups
}

// groupTopology is a topology whose labels tell node groups apart: by domain, or by whether a node has the label.
type groupTopology struct {
	*model.Topology
	byDomain bool
}

func topologiesOf(in *cycle.Replacement) (out []groupTopology) {
	add := func(t *model.Topology, byDomain bool) {
		if x := (groupTopology{t, byDomain}); !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	for i := range in.Spread.Hard {
		add(in.Spread.Hard[i].Topology, !in.Spread.Hard[i].Topology.OneNodePerDomain)
	}
	for i := range in.Spread.Soft {
		add(in.Spread.Soft[i].Topology, !in.Spread.Soft[i].Hostname)
	}
	for _, list := range [...][]cycle.TermWithTopology{in.InterPod.Required, in.InterPod.Anti, in.InterPod.ExistingAnti, in.InterPod.Scored} {
		for i := range list {
			add(list[i].Topology, !list[i].Topology.OneNodePerDomain)
		}
	}
	return out
}

// newNodeGroups groups the nodes that filters and scores cannot tell apart, except by free
// resources, images and pods.
func newNodeGroups(w *model.Cluster, in *cycle.Replacement, topologies []groupTopology) *nodeGroups {
	count, number := len(w.Snap.Nodes), map[string]int32{}
	out := &nodeGroups{group: make([]int32, count), all: make([]uint64, (count+63)/64)}
	var key []byte
	for place, n := range w.InitNodeOrder() {
		out.group[place] = noGroup
		if !in.CanRun[n] {
			continue
		}
		key = binary.AppendVarint(key[:0], in.StaticScores.PreferNoSchedule[n]+in.StaticScores.HintTaint*w.Hints.ExtraTaints(n))
		if in.StaticScores.Preferred != nil {
			key = binary.AppendVarint(key, in.StaticScores.Preferred[n])
		}
		for _, t := range topologies {
			x := t.Domain[n]
			if x != model.NoDomain && !t.byDomain {
				x = 0
			}
			key = binary.AppendVarint(key, int64(x))
		}
		g, known := number[string(key)]
		if !known {
			g = int32(len(out.nodes))
			number[string(key)] = g
			out.nodes, out.bits, out.firstWord, out.size = append(out.nodes, n), append(out.bits, nil), append(out.firstWord, place>>6), append(out.size, 0)
		}
		out.group[place] = g
		out.size[g]++
		out.all[place>>6] |= 1 << (place & 63)
		for len(out.bits[g]) <= place>>6-out.firstWord[g] {
			out.bits[g] = append(out.bits[g], 0)
		}
		out.bits[g][place>>6-out.firstWord[g]] |= 1 << (place & 63)
	}
	return out
}
