package score

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// imageNodes is one image name: its size and where it is. A large cluster has more
// names than nodes, most of them on few: a place per node and name would take
// hundreds of megabytes.
type imageNodes struct {
	bytes int64
	nodes []cluster.NodeID // in order
}

// ImageIndex knows which images are on which nodes, and keeps the scores of
// lists of images.
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

// Clone shares the index and copies the list of kept scores.
func (w *ImageIndex) Clone() *ImageIndex {
	c := *w
	c.scoreCache = maps.Clone(w.scoreCache)
	return &c
}
