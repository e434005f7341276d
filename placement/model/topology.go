package model

// Topology maps each node to its domain of one topology key.
type Topology struct {
	// Domain is the node's number of the label's value, noDomain without the
	// label. Number 0 stands for the empty value.
	Domain           []int32
	Size             int
	ID               int  // tells it apart from others
	OneNodePerDomain bool // no domain has two nodes
}

const NoDomain = -1

// TopologyOf returns the domains of a topology key.
func (w *Cluster) TopologyOf(key string) *Topology {
	t := w.Topologies[key]
	if t != nil {
		return t
	}
	t = &Topology{Domain: make([]int32, len(w.Snap.Nodes)), Size: 1}
	ids := map[string]int32{"": 0}
	for i := range w.Snap.Nodes {
		v, ok := w.Snap.Nodes[i].Label(key)
		if !ok {
			t.Domain[i] = NoDomain
			continue
		}
		id, seen := ids[v]
		if !seen {
			id = int32(t.Size)
			ids[v] = id
			t.Size++
		}
		t.Domain[i] = id
	}
	w.LastID++
	t.ID, t.OneNodePerDomain = w.LastID, t.hasOneNodePerDomain()
	w.Topologies[key] = t
	return t
}

// hasOneNodePerDomain reports whether no domain has two nodes.
func (t *Topology) hasOneNodePerDomain() bool {
	seen := make([]bool, t.Size)
	for _, x := range t.Domain {
		if x == NoDomain {
			continue
		}
		if seen[x] {
			return false
		}
		seen[x] = true
	}
	return true
}
