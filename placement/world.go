package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"k8s.io/apimachinery/pkg/labels"
)

// World is a snapshot in which pods can be moved: who stands where while a plan
// is being built. It keeps every count that filters and scores need up to date,
// so a move costs a few additions. It is not safe for concurrent use.
type World struct {
	clusterState

	opts      Options
	incoming  []*incoming // by class; made on demand
	scorers   map[*profile][]scorer
	images    *imageIndex
	views     map[string]*view
	groups    groupCache
	quick     *quick
	general   bool    // nothing is foretold quickly: for comparison
	scattered float64 // weight of the odds over every set of nodes where a sample is judged
	buf       scratch
	sampler   sampler
}

// NewWorld starts a world as the snapshot is.
func NewWorld(s *cluster.Snapshot, opts Options) *World {
	w := &World{
		clusterState: clusterState{
			snap:       s,
			node:       make([]cluster.NodeID, len(s.Pods)),
			classOf:    make([]*class, len(s.Pods)),
			byNS:       map[string][]*class{},
			byLabel:    map[labelKey]map[string][]*class{},
			keyed:      map[string][]bool{},
			load:       make([]nodeLoad, len(s.Nodes)),
			topologies: map[string]*topology{},
			spreads:    map[string]*counter{},
			matches:    map[string]*counter{},
			owned:      map[string]*ownedTerm{},
			nsLabels:   map[string]labels.Set{},
			ports:      make(portTable, len(s.Nodes)),
			held:       diskTable{disks: map[string]*diskUse{}, claimUse: map[string]int32{}},
			storage:    newStorage(s),
		},
		opts:      opts,
		scorers:   map[*profile][]scorer{},
		views:     map[string]*view{},
		images:    newImageIndex(s),
		scattered: scattered,
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		w.load[i].allocatableMilliCPU, w.load[i].allocatableBytes = n.Allocatable.MilliCPU, n.Allocatable.MemoryBytes
		if !n.Ready && w.unready == "" {
			w.unready = n.Name
		}
	}
	w.profiled(opts.Profiles)
	w.index()
	w.group()
	n := len(w.classes)
	w.incoming, w.groups = make([]*incoming, n), newGroupCache(n)
	w.attachments = newAttachments(w.storage)
	w.indexNominated()
	for i := range s.Pods {
		p := &s.Pods[i]
		w.node[i] = cluster.NoNode
		if p.Node != cluster.NoNode && !p.Terminal {
			w.shift(p.ID, p.Node, 1)
			w.node[i] = p.Node
		}
	}
	return w
}
