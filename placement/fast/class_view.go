package fast

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// nodeGroups divides the nodes into groups for a class. Nodes of a group differ only in free
// resources, images and the pods counted per node. Classes with the same node checks, topology keys
// and profile share the groups, which are read-only.
type nodeGroups struct {
	group []uint8          // by position; noGroup: the pod cannot run there
	nodes []cluster.NodeID // by group: one of its nodes
	all   []uint64         // bit set of the positions of all groups
	bits  [][]uint64       // by group: bit set of its positions
}

const (
	maxGroups = 250
	noGroup   = 255
)

// classView holds the data of a class for the fast prediction.
type classView struct {
	groups       *nodeGroups
	anti         []cycle.TermWithTopology // terms whose domains contain several nodes
	scored       []cycle.TermWithTopology
	antiByNode   []cycle.TermWithTopology // terms whose domains are single nodes
	scoredByNode []cycle.TermWithTopology
}

// GroupCache caches the node groups and the classView of each class until the hints on nodes
// change.
type GroupCache struct {
	groups      map[string]*nodeGroups
	views       []*classView // by class
	viewVersion []int        // by class: the hintVersion for which its view was built
	hintVersion int          // number of Clear calls plus 1
}

func NewGroupCache(classes int) GroupCache {
	return GroupCache{groups: map[string]*nodeGroups{}, views: make([]*classView, classes), viewVersion: make([]int, classes), hintVersion: 1}
}

// Clone copies the node groups. The copy has no class views, because these refer to the pods of the
// model.
func (g *GroupCache) Clone() GroupCache {
	c := NewGroupCache(len(g.views))
	c.groups, c.hintVersion = maps.Clone(g.groups), g.hintVersion
	return c
}

// Clear empties the cache. The caller must call Clear when hints on nodes change.
func (g *GroupCache) Clear() {
	g.hintVersion++
	clear(g.groups)
}

// viewOf returns the classView of the class, and builds it on first use; nil if the class needs the
// general prediction.
func (g *GroupCache) viewOf(m *model.Cluster, in *cycle.Replacement) *classView {
	c := in.Class.Number
	if g.viewVersion[c] == g.hintVersion {
		return g.views[c]
	}
	g.views[c], g.viewVersion[c] = nil, g.hintVersion
	if supportsProfile(in.Profile) && supportsClass(in) {
		g.views[c] = g.newClassView(m, in)
	}
	return g.views[c]
}

// supportsProfile reports whether the profile has the default plugins, with weights that are small
// enough for int32 totals.
func supportsProfile(p *scheduler.Compiled) bool {
	x := &p.Weights
	return !p.ScoresUsage() && p.FitStrategy.IsDefault() && len(p.BalancedResources) == 0 &&
		x.ResourcesFit+x.BalancedAllocation+x.ImageLocality <= 100 &&
		x.TaintToleration+x.NodeAffinity+x.InterPodAffinity+x.PodTopologySpread <= 10_000 // int32 holds the totals
}

// supportsClass reports whether the placement of the pod depends only on cpu, memory, properties of
// the nodes and counts of pods.
func supportsClass(in *cycle.Replacement) bool {
	if in.CheckedRequests == nil || len(in.Requests.Extended) > 0 || in.Requests.EphemeralStorageByte > 0 ||
		len(in.Ports) > 0 || len(in.Disks) > 0 || len(in.Class.Claims) > 0 || len(in.Volumes.Attach) > 0 || len(in.Volumes.ExclusiveClaims) > 0 ||
		in.Volumes.Bindable != nil || in.Volumes.InZone != nil || in.FeaturesOK != nil || in.Volumes.RefusedReason != "" || in.Volumes.Score != nil {
		return false
	}
	soft := in.Spread.Soft
	if in.Profile.Weights.PodTopologySpread == 0 {
		soft = nil
	}
	for i := range soft {
		if soft[i].Topology.OneNodePerDomain != soft[i].Hostname {
			return false
		}
	}
	for n := 0; len(soft) > 0 && in.Spread.RequireAllKeys && n < len(in.CanRun); n++ {
		if in.CanRun[n] && !in.Spread.SoftKeyNodes[n] { // the scheduler would keep it without a spread score
			return false
		}
	}
	for i := range in.Spread.Hard { // the fast filter rejects no node without matching pods
		if c := &in.Spread.Hard[i]; c.Topology.OneNodePerDomain && c.SelfMatch > c.MaxSkew {
			return false
		}
	}
	return len(soft) <= maxSoftConstraints && !slices.ContainsFunc(in.InterPod.Required, func(t cycle.TermWithTopology) bool { return t.Topology.OneNodePerDomain })
}

// newClassView sorts the terms by the size of their domains, and the nodes into groups.
func (g *GroupCache) newClassView(m *model.Cluster, in *cycle.Replacement) *classView {
	s := &classView{}
	for _, list := range [...][]cycle.TermWithTopology{in.InterPod.Anti, in.InterPod.ExistingAnti} {
		for _, t := range list {
			if t.Topology.OneNodePerDomain {
				s.antiByNode = append(s.antiByNode, t)
			} else {
				s.anti = append(s.anti, t)
			}
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
	if s.groups = g.groupsOf(m, in); s.groups == nil {
		return nil
	}
	return s
}

// groupsOf returns the node groups of a class; nil if there are too many.
func (g *GroupCache) groupsOf(m *model.Cluster, in *cycle.Replacement) *nodeGroups {
	topologies := topologiesOf(in)
	key := binary.AppendVarint(nil, int64(in.NodeChecks.ID))
	for _, t := range topologies {
		key = binary.AppendVarint(key, int64(t.ID))
	}
	land, known := g.groups[string(key)]
	if !known {
		land = newNodeGroups(m, in, topologies)
		g.groups[string(key)] = land
	}
	return land
}

func topologiesOf(in *cycle.Replacement) (out []*model.Topology) {
	add := func(t *model.Topology) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, list := range [...][]cycle.SpreadConstraint{in.Spread.Hard, in.Spread.Soft} {
		for i := range list {
			add(list[i].Topology)
		}
	}
	for _, list := range [...][]cycle.TermWithTopology{in.InterPod.Required, in.InterPod.Anti, in.InterPod.ExistingAnti, in.InterPod.Scored} {
		for i := range list {
			add(list[i].Topology)
		}
	}
	return out
}

// newNodeGroups groups the nodes that filters and scores cannot tell apart, except by free
// resources, images and pods.
func newNodeGroups(w *model.Cluster, in *cycle.Replacement, topologies []*model.Topology) *nodeGroups {
	count, number := len(w.Snap.Nodes), map[string]uint8{}
	land := &nodeGroups{group: make([]uint8, count), all: make([]uint64, (count+63)/64)}
	var key []byte
	for place, n := range w.InitNodeOrder() {
		land.group[place] = noGroup
		if !in.CanRun[n] {
			continue
		}
		key = binary.AppendVarint(key[:0], in.StaticScores.PreferNoSchedule[n]+in.StaticScores.HintTaint*w.Hints.ExtraTaints(n))
		if in.StaticScores.Preferred != nil {
			key = binary.AppendVarint(key, in.StaticScores.Preferred[n])
		}
		for _, t := range topologies {
			key = binary.AppendVarint(key, int64(groupDomain(t, n)))
		}
		g, known := number[string(key)]
		if !known {
			if len(land.nodes) == maxGroups {
				return nil
			}
			g = uint8(len(land.nodes))
			number[string(key)] = g
			land.nodes, land.bits = append(land.nodes, n), append(land.bits, make([]uint64, len(land.all)))
		}
		land.group[place] = g
		land.all[place>>6] |= 1 << (place & 63)
		land.bits[g][place>>6] |= 1 << (place & 63)
	}
	return land
}

// groupDomain returns the node's domain. If each node is a domain, groupDomain returns 0 for all
// nodes with the label.
func groupDomain(t *model.Topology, n cluster.NodeID) int32 {
	if x := t.Domain[n]; x == model.NoDomain || !t.OneNodePerDomain {
		return x
	}
	return 0
}
