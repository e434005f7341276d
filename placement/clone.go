package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// Clone is a World in which other moves can be made. It finds the pods where
// they stand here.
func (w *World) Clone() *World {
	c := NewWorld(w.snap, w.opts)
	for p, n := range w.node {
		c.Move(cluster.PodID(p), n)
	}
	return c
}
