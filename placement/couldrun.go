package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// ClassOf numbers what the scheduler cannot tell the pod from: pods of one number, from
// 0 to below Classes, get the same answers of CouldRun wherever Supported holds for both. A
// pod that has ended has none, -1.
func (w *clusterState) ClassOf(p cluster.PodID) int {
	if c := w.classOf[p]; c != nil {
		return c.number
	}
	return -1
}

// Classes is how many there are.
func (w *clusterState) Classes() int { return len(w.classes) }

// CouldRun says of each node whether a replacement of the pod could run there beside
// so many pods that request so much, whatever else there is: whether the filters that
// no other pod changes let it, of readiness, selectors, taints, volumes and declared
// features, and that of resources. Ports, limits of volumes, spread and affinity among
// pods are not asked. True where it is not known.
func (w *World) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := w.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := w.incomingOf(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		return in.canRun[n] && in.vol.never == "" && passes(in.vol.bindOK, n) && passes(in.vol.zoneOK, n) && passes(in.featuresOK, n) &&
			holds(&w.snap.Nodes[n], in.asked, held, pods)
	}
}

func passes(ok []bool, n cluster.NodeID) bool { return ok == nil || ok[n] }

// holds reports whether a node has room for what is asked; nil: nothing is.
func holds(n *cluster.Node, asked, held *cluster.Resources, pods int64) bool {
	if asked == nil {
		return true
	}
	if pods+1 > n.AllowedPods {
		return false
	}
	if asked.MilliCPU > 0 && held.MilliCPU+asked.MilliCPU > n.Allocatable.MilliCPU ||
		asked.MemoryBytes > 0 && held.MemoryBytes+asked.MemoryBytes > n.Allocatable.MemoryBytes ||
		asked.EphemeralStorageByte > 0 && held.EphemeralStorageByte+asked.EphemeralStorageByte > n.Allocatable.EphemeralStorageByte {
		return false
	}
	for name, size := range asked.Extended {
		if size > 0 && held.Extended[name]+size > n.Allocatable.Extended[name] {
			return false
		}
	}
	return true
}
