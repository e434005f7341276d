package goal

import "github.com/evenkeel-project/evenkeel/cluster"

// domains holds the values of a topology key.
type domains struct {
	ByNode []int32 // by node; NoDomain if the label is missing
	ids    map[string]int32
	names  []string // by domain; nil until the first use
	sizes  []int32  // by domain: the number of its nodes; nil until the first use
}

const NoDomain = -1

// of returns the domain of the node, or NoDomain for NoNode and for a node that is marked as not counted.
func (d *domains) of(n cluster.NodeID, notCounted []bool) int32 {
	if n == cluster.NoNode || notCounted != nil && notCounted[n] {
		return NoDomain
	}
	return d.ByNode[n]
}

// Count returns the number of domains.
func (d *domains) Count() int { return len(d.ids) }

// Name returns the value of the topology key in a domain.
func (d *domains) Name(domain int) string {
	if d.names == nil {
		d.names = make([]string, len(d.ids))
		for name, at := range d.ids {
			d.names[at] = name
		}
	}
	return d.names[domain]
}

// NodesIn returns the number of nodes in a domain.
func (d *domains) NodesIn(domain int) int {
	if d.sizes == nil {
		d.sizes = make([]int32, len(d.ids))
		for _, at := range d.ByNode {
			if at != NoDomain {
				d.sizes[at]++
			}
		}
	}
	return int(d.sizes[domain])
}

type domainCache map[string]*domains

func (x domainCache) forKey(s *cluster.Snapshot, key string) *domains {
	if d := x[key]; d != nil {
		return d
	}
	d := &domains{ByNode: make([]int32, len(s.Nodes)), ids: map[string]int32{}}
	for i := range s.Nodes {
		value, has := s.Nodes[i].Label(key)
		if !has {
			d.ByNode[i] = NoDomain
			continue
		}
		n, seen := d.ids[value]
		if !seen {
			n = int32(len(d.ids))
			d.ids[value] = n
		}
		d.ByNode[i] = n
	}
	x[key] = d
	return d
}

// same reports whether two nodes have the label with the same value. Either node may be NoNode.
func (d *domains) same(a, b cluster.NodeID) bool {
	return a != cluster.NoNode && b != cluster.NoNode && d.ByNode[a] != NoDomain && d.ByNode[a] == d.ByNode[b]
}

// sameMarks reports whether two goals share their list of nodes that do not count.
func sameMarks(a, b []bool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
