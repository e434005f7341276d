package placement

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// terrain is what the nodes themselves are to a class: nodes of one group cannot
// be told apart by anything but their resources, their images and the pods that
// are counted by node. Classes with the same view, topology keys and profile
// share it. It is in the order of the walk and read-only.
type terrain struct {
	group []uint8          // by place in the walk; nowhere: the pod cannot run there
	nodes []cluster.NodeID // by group, one of its nodes
	all   []uint64         // the places of all groups, as bits
	bits  [][]uint64       // by group, its places
}

const (
	maxGroups = 250
	nowhere   = 255
)

// sight is how a quick prediction reads a class; nil in a class that is not quick.
type sight struct {
	land     *terrain
	required []placedTerm // inter-pod terms whose domains hold several nodes
	anti     []placedTerm
	scored   []placedTerm
	antiNode []placedTerm // and those whose domains are nodes
	nodeWise []placedTerm
}

// groupCache keeps the groups of nodes, and how each class reads them, until the
// hints on nodes change.
type groupCache struct {
	terrains map[string]*terrain
	sights   []*sight // by class
	sightAt  []int    // by class, the hintings at which its sight holds
	hintings int      // how often hints were set, and one
}

func newGroupCache(classes int) groupCache {
	return groupCache{terrains: map[string]*terrain{}, sights: make([]*sight, classes), sightAt: make([]int, classes), hintings: 1}
}

// clone keeps the groups, which depend on nodes alone; how classes read them is found anew.
func (g *groupCache) clone() groupCache {
	c := newGroupCache(len(g.sights))
	c.terrains, c.hintings = maps.Clone(g.terrains), g.hintings
	return c
}

func (g *groupCache) forget() {
	g.hintings++
	clear(g.terrains)
}

// sightOf returns how the class is read, and nil where the general way is needed.
// It is found once per class.
func (q *quick) sightOf(in *incoming) *sight {
	c, g := in.class.number, q.groups
	if g.sightAt[c] == g.hintings {
		return g.sights[c]
	}
	g.sights[c], g.sightAt[c] = nil, g.hintings
	if quickProfile(in.profile) && quickClass(in) {
		g.sights[c] = q.newSight(in)
	}
	return g.sights[c]
}

// quickProfile reports whether the profile scores in the way that is modelled
// quickly: that of the default profile with any small weights.
func quickProfile(p *profile) bool {
	x := &p.Weights
	return p.Policy == nil && p.Packing == nil && p.Fit.plain() && len(p.Balanced) == 0 &&
		x.ResourcesFit+x.BalancedAllocation+x.ImageLocality <= 100 &&
		x.TaintToleration+x.NodeAffinity+x.InterPodAffinity+x.PodTopologySpread <= 10_000 // int32 holds the totals
}

// quickClass reports whether nothing is asked of nodes but resources, their own
// properties and counts of pods.
func quickClass(in *incoming) bool {
	if in.asked == nil || len(in.request.Extended) > 0 || in.request.EphemeralStorageByte > 0 ||
		len(in.ports) > 0 || len(in.disks) > 0 || len(in.class.claims) > 0 || len(in.vol.attach) > 0 || len(in.vol.oncePod) > 0 ||
		in.vol.bindOK != nil || in.vol.zoneOK != nil || in.featuresOK != nil || in.vol.never != "" || in.vol.score != nil {
		return false
	}
	soft := in.spread.soft
	if in.profile.Weights.PodTopologySpread == 0 {
		soft = nil
	}
	for i := range soft {
		if soft[i].topo.single != soft[i].hostname {
			return false
		}
	}
	for n := 0; len(soft) > 0 && in.spread.requireAll && n < len(in.canRun); n++ {
		if in.canRun[n] && !in.spread.softNode[n] { // it would take part without a score
			return false
		}
	}
	for i := range in.spread.hard { // nodes without pods must not be refused for those with
		if c := &in.spread.hard[i]; c.topo.single && c.self > c.maxSkew {
			return false
		}
	}
	return len(soft) <= maxSoft && !slices.ContainsFunc(in.inter.required, func(t placedTerm) bool { return t.topo.single })
}

// newSight sorts the terms by how they are read, and the nodes into groups.
func (q *quick) newSight(in *incoming) *sight {
	s := &sight{required: in.inter.required}
	for _, list := range [...][]placedTerm{in.inter.anti, in.inter.existingAnti} {
		for _, t := range list {
			if t.topo.single {
				s.antiNode = append(s.antiNode, t)
			} else {
				s.anti = append(s.anti, t)
			}
		}
	}
	for _, t := range in.inter.scored {
		switch {
		case in.profile.Weights.InterPodAffinity == 0:
		case t.topo.single:
			s.nodeWise = append(s.nodeWise, t)
		default:
			s.scored = append(s.scored, t)
		}
	}
	if s.land = q.terrainOf(in); s.land == nil {
		return nil
	}
	return s
}

// terrainOf returns the groups of nodes, nil where there are too many of them.
func (q *quick) terrainOf(in *incoming) *terrain {
	topologies := topologiesOf(in)
	key := binary.AppendVarint(nil, int64(in.view))
	for _, t := range topologies {
		key = binary.AppendVarint(key, int64(t.number))
	}
	land, known := q.groups.terrains[string(key)]
	if !known {
		land = newTerrain(q.m, in, topologies)
		q.groups.terrains[string(key)] = land
	}
	return land
}

// topologiesOf are those that filters and scores of the class read.
func topologiesOf(in *incoming) (out []*topology) {
	add := func(t *topology) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, list := range [...][]constraint{in.spread.hard, in.spread.soft} {
		for i := range list {
			add(list[i].topo)
		}
	}
	for _, list := range [...][]placedTerm{in.inter.required, in.inter.anti, in.inter.existingAnti, in.inter.scored} {
		for i := range list {
			add(list[i].topo)
		}
	}
	return out
}

func newTerrain(w *clusterState, in *incoming, topologies []*topology) *terrain {
	count, number := len(w.snap.Nodes), map[string]uint8{}
	land := &terrain{group: make([]uint8, count), all: make([]uint64, (count+63)/64)}
	var key []byte
	for place, n := range w.walked() {
		land.group[place] = nowhere
		if !in.canRun[n] {
			continue
		}
		key = binary.AppendVarint(key[:0], in.fixed.taints[n]+in.fixed.hint*w.hinted.taint(n))
		if in.fixed.preferred != nil {
			key = binary.AppendVarint(key, in.fixed.preferred[n])
		}
		for _, t := range topologies {
			key = binary.AppendVarint(key, int64(groupOf(t, n)))
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

// groupOf is what nodes of one group share: the domain, or, where each node is one,
// whether it has the label.
func groupOf(t *topology, n cluster.NodeID) int32 {
	if x := t.domain[n]; x == noDomain || !t.single {
		return x
	}
	return 0
}
