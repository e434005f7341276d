package score

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// imageNodes is one image name: its size and its nodes. A list is smaller than an entry
// per node and name: most names are on few nodes, and a large cluster has more names
// than nodes.
type imageNodes struct {
	bytes int64
	nodes []cluster.NodeID // in order
}

// ImageIndex knows which images are on which nodes, and caches the scores by list of
// images.
type ImageIndex struct {
	snap       *cluster.Snapshot
	images     map[string]*imageNodes
	scoreCache map[string][]int8 // by list of images; by node, 0..100
}

// NewImageIndex reads the images of every node.
func NewImageIndex(s *cluster.Snapshot) *ImageIndex {
	w := &ImageIndex{snap: s, images: map[string]*imageNodes{}, scoreCache: map[string][]int8{}}
	for i := range w.snap.Nodes {
		for _, img := range w.snap.Nodes[i].Object.Status.Images {
			for _, name := range img.Names {
				s := w.images[name]
				if s == nil {
					s = &imageNodes{bytes: img.SizeBytes}
					w.images[name] = s
				}
				if n := len(s.nodes); n == 0 || s.nodes[n-1] != cluster.NodeID(i) { // it may be named twice
					s.nodes = append(s.nodes, cluster.NodeID(i))
				}
			}
		}
	}
	return w
}

// Clone returns a copy that shares the index and has its own score cache.
func (w *ImageIndex) Clone() *ImageIndex {
	c := *w
	c.scoreCache = maps.Clone(w.scoreCache)
	return &c
}
