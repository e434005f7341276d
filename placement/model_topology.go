package placement

// topology maps each node to its domain of one topology key.
type topology struct {
	// domain is the node's number of the label's value, noDomain without the
	// label. Number 0 stands for the empty value.
	domain []int32
	size   int
	number int  // tells it apart from others
	single bool // no domain has two nodes
}

const noDomain = -1

// topology returns the domains of a topology key.
func (w *clusterState) topology(key string) *topology {
	t := w.topologies[key]
	if t != nil {
		return t
	}
	t = &topology{domain: make([]int32, len(w.snap.Nodes)), size: 1}
	ids := map[string]int32{"": 0}
	for i := range w.snap.Nodes {
		v, ok := w.snap.Nodes[i].Label(key)
		if !ok {
			t.domain[i] = noDomain
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
	w.numbered++
	t.number, t.single = w.numbered, t.unique()
	w.topologies[key] = t
	return t
}

// unique reports whether no domain has two nodes.
func (t *topology) unique() bool {
	seen := make([]bool, t.size)
	for _, x := range t.domain {
		if x == noDomain {
			continue
		}
		if seen[x] {
			return false
		}
		seen[x] = true
	}
	return true
}
