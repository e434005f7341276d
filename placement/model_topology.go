package placement

// Topology maps each node to its domain of one topology key.
type Topology struct {
	// domain is the node's number of the label's value, noDomain without the
	// label. Number 0 stands for the empty value.
	domain      []int32
	size        int
	Number      int  // tells it apart from others
	OneNodeEach bool // no domain has two nodes
}

const NoDomain = -1

// TopologyOf returns the domains of a topology key.
func (w *Cluster) TopologyOf(key string) *Topology {
	t := w.Topologies[key]
	if t != nil {
		return t
	}
	t = &Topology{domain: make([]int32, len(w.Snap.Nodes)), size: 1}
	ids := map[string]int32{"": 0}
	for i := range w.Snap.Nodes {
		v, ok := w.Snap.Nodes[i].Label(key)
		if !ok {
			t.domain[i] = NoDomain
			continue
		}
		id, seen := ids[v]
		if !seen {
			id = int32(t.size)
			ids[v] = id
			t.size++
		}
		t.domain[i] = id
	}
	w.LastNumber++
	t.Number, t.OneNodeEach = w.LastNumber, t.unique()
	w.Topologies[key] = t
	return t
}

// unique reports whether no domain has two nodes.
func (t *Topology) unique() bool {
	seen := make([]bool, t.size)
	for _, x := range t.domain {
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
