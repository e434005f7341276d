package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"k8s.io/apimachinery/pkg/labels"
)

// ClusterModel is a snapshot in which pods can be moved: who stands where while a plan
// is being built. It keeps every count that filters and scores need up to date,
// so a move costs a few additions. It is not safe for concurrent use.
type ClusterModel struct {
	Cluster

	opts               Options
	replacements       []*Replacement // by class; made on demand
	scorers            map[*Compiled][]Scorer
	images             *ImageIndex
	nodeChecks         map[string]*NodeChecks
	groups             GroupCache
	fast               *Predictor
	fastOff            bool    // nothing is foretold quickly: for comparison
	randomSampleWeight float64 // weight of the odds over every set of nodes where a sample is judged
	buf                Scratch
	sampler            Sampler
}

// NewClusterModel starts a world as the snapshot is.
func NewClusterModel(s *cluster.Snapshot, opts Options) *ClusterModel {
	w := &ClusterModel{
		Cluster: Cluster{
			Snap:               s,
			PodNode:            make([]cluster.NodeID, len(s.Pods)),
			PodClass:           make([]*EquivalenceClass, len(s.Pods)),
			ClassesByNamespace: map[string][]*EquivalenceClass{},
			ClassesByLabel:     map[labelKey]map[string][]*EquivalenceClass{},
			NodesWithKeys:      map[string][]bool{},
			Requests:           make([]NodeRequests, len(s.Nodes)),
			Topologies:         map[string]*Topology{},
			SpreadCounters:     map[string]*PodCounter{},
			TermCounters:       map[string]*PodCounter{},
			TermByID:           map[string]*ExistingTerm{},
			NamespaceLabels:    map[string]labels.Set{},
			Ports:              make(PortTable, len(s.Nodes)),
			Disks:              DiskTable{ByID: map[string]*DiskUse{}, ClaimUse: map[string]int32{}},
			Storage:            newStorage(s),
		},
		opts:               opts,
		scorers:            map[*Compiled][]Scorer{},
		nodeChecks:         map[string]*NodeChecks{},
		images:             newImageIndex(s),
		randomSampleWeight: RandomSampleWeight,
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		w.Requests[i].allocatableMilliCPU, w.Requests[i].allocatableBytes = n.Allocatable.MilliCPU, n.Allocatable.MemoryBytes
		if !n.Ready && w.NotReadyNode == "" {
			w.NotReadyNode = n.Name
		}
	}
	w.readProfiles(opts.Profiles)
	w.indexOwners()
	w.groupPods()
	n := len(w.ClassList)
	w.replacements, w.groups = make([]*Replacement, n), newGroupCache(n)
	w.Attachments = newAttachments(w.Storage)
	w.indexNominated()
	for i := range s.Pods {
		p := &s.Pods[i]
		w.PodNode[i] = cluster.NoNode
		if p.Node != cluster.NoNode && !p.Terminal {
			w.shiftPod(p.ID, p.Node, 1)
			w.PodNode[i] = p.Node
		}
	}
	return w
}
