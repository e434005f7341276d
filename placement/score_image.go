package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// imageState is one image name: its size and where it is. A large cluster has more
// names than nodes, most of them on few: a place per node and name would take
// hundreds of megabytes.
type imageState struct {
	bytes int64
	nodes []cluster.NodeID // in order
}

func (w *World) indexImages() {
	w.images = map[string]*imageState{}
	for i := range w.snap.Nodes {
		for _, img := range w.snap.Nodes[i].Object.Status.Images {
			for _, name := range img.Names {
				s := w.images[name]
				if s == nil {
					s = &imageState{bytes: img.SizeBytes}
					w.images[name] = s
				}
				if n := len(s.nodes); n == 0 || s.nodes[n-1] != cluster.NodeID(i) { // it may be named twice
					s.nodes = append(s.nodes, cluster.NodeID(i))
				}
			}
		}
	}
}
