package goal

import "github.com/evenkeel-project/evenkeel/cluster"

// domains holds the values of a topology key.
type domains struct {
	ByNode []int32 // by node; NoDomain if the label is missing or empty
	ids    map[string]int32
}

const NoDomain = -1

type domainCache map[string]*domains

func (x domainCache) forKey(s *cluster.Snapshot, key string) *domains {
	if d := x[key]; d != nil {
		return d
	}
	d := &domains{make([]int32, len(s.Nodes)), map[string]int32{}}
	for i := range s.Nodes {
		value, _ := s.Nodes[i].Label(key)
		if value == "" {
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
