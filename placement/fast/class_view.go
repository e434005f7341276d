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

// nodeGroups is what the nodes themselves are to a class: nodes of one group cannot
// be told apart by anything but their resources, their images and the pods that
// are counted by node. Classes with the same view, topology keys and profile
// share it. It is in the order of the walk and read-only.
type nodeGroups struct {
	group []uint8          // by place in the walk; nowhere: the pod cannot run there
	nodes []cluster.NodeID // by group, one of its nodes
	all   []uint64         // the places of all groups, as bits
	bits  [][]uint64       // by group, its places
}

const (
	maxGroups = 250
	noGroup   = 255
)

// classView is how a quick prediction reads a class; nil in a class that is not quick.
type classView struct {
	groups       *nodeGroups
	required     []cycle.TermWithTopology // inter-pod terms whose domains hold several nodes
	anti         []cycle.TermWithTopology
	scored       []cycle.TermWithTopology
	antiByNode   []cycle.TermWithTopology // and those whose domains are nodes
	scoredByNode []cycle.TermWithTopology
}

// GroupCache keeps the groups of nodes, and how each class reads them, until the
// hints on nodes change.
type GroupCache struct {
	groups      map[string]*nodeGroups
	views       []*classView // by class
	viewVersion []int        // by class, the hintings at which its sight holds
	hintVersion int          // how often hints were set, and one
}

func NewGroupCache(classes int) GroupCache {
	return GroupCache{groups: map[string]*nodeGroups{}, views: make([]*classView, classes), viewVersion: make([]int, classes), hintVersion: 1}
}

// Clone keeps the groups, which depend on nodes alone; how classes read them is found anew.
func (g *GroupCache) Clone() GroupCache {
	c := NewGroupCache(len(g.views))
	c.groups, c.hintVersion = maps.Clone(g.groups), g.hintVersion
	return c
}

func (g *GroupCache) Clear() {
	g.hintVersion++
	clear(g.groups)
}

// viewOf returns how the class is read, and nil where the general way is needed.
// It is found once per class.
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

// supportsProfile reports whether the profile scores in the way that is modelled
// quickly: that of the default profile with any small weights.
func supportsProfile(p *scheduler.Compiled) bool {
	x := &p.Weights
	return p.Policy == nil && p.Packing == nil && p.FitStrategy.IsDefault() && len(p.BalancedResources) == 0 &&
		x.ResourcesFit+x.BalancedAllocation+x.ImageLocality <= 100 &&
		x.TaintToleration+x.NodeAffinity+x.InterPodAffinity+x.PodTopologySpread <= 10_000 // int32 holds the totals
}

// supportsClass reports whether nothing is asked of nodes but resources, their own
// properties and counts of pods.
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
		if in.CanRun[n] && !in.Spread.SoftKeyNodes[n] { // it would take part without a score
			return false
		}
	}
	for i := range in.Spread.Hard { // nodes without pods must not be refused for those with
		if c := &in.Spread.Hard[i]; c.Topology.OneNodePerDomain && c.SelfMatch > c.MaxSkew {
			return false
		}
	}
	return len(soft) <= maxSoftConstraints && !slices.ContainsFunc(in.InterPod.Required, func(t cycle.TermWithTopology) bool { return t.Topology.OneNodePerDomain })
}

// newClassView sorts the terms by how they are read, and the nodes into groups.
func (g *GroupCache) newClassView(m *model.Cluster, in *cycle.Replacement) *classView {
	s := &classView{required: in.InterPod.Required}
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

// groupsOf returns the groups of nodes, nil where there are too many of them.
func (g *GroupCache) groupsOf(m *model.Cluster, in *cycle.Replacement) *nodeGroups {
	topologies := topologiesOf(in)
	key := binary.AppendVarint(nil, int64(in.NodeChecksID))
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

// topologiesOf are those that filters and scores of the class read.
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

// groupDomain is what nodes of one group share: the domain, or, where each node is one,
// whether it has the label.
func groupDomain(t *model.Topology, n cluster.NodeID) int32 {
	if x := t.Domain[n]; x == model.NoDomain || !t.OneNodePerDomain {
		return x
	}
	return 0
}
