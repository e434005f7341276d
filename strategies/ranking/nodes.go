package ranking

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/placement/target"
)

// Nodes are the nodes of a snapshot, as strategies look at them. Nodes is not safe for concurrent use.
type Nodes struct {
	snapshot *cluster.Snapshot
	scope    cluster.Scope
	// List holds the nodes without the hints of Evenkeel. A hint keeps new pods away for a short
	// time, and must not evict those that run.
	List    []*cluster.Node
	inScope []bool // by node
	targets *target.Targets
	groups  map[string]*Groups
	lists   map[uint64][][]int64 // different lists of ranks, by their hash
}

// NewNodes returns the nodes of a snapshot.
func NewNodes(s *cluster.Snapshot, scope cluster.Scope) *Nodes {
	n := &Nodes{s, scope, make([]*cluster.Node, len(s.Nodes)), make([]bool, len(s.Nodes)), target.New(s, scope, nil), map[string]*Groups{}, map[uint64][][]int64{}}
	for i := range s.Nodes {
		n.List[i] = &s.Nodes[i]
		if o := scope.Hints.Without(s.Nodes[i].Object); o != s.Nodes[i].Object {
			n.List[i] = new(s.Nodes[i])
			n.List[i].Object = o
		}
		n.inScope[i] = scope.HasNode(&s.Nodes[i])
	}
	return n
}

// Groups are the nodes that look the same to a pod. A check of one node of a group holds for the others.
type Groups struct {
	// Of is the group of each node, and First one node of each group.
	Of    []int32
	First []*cluster.Node
}

// nameField is the only field of nodes that a pod can select. No label has this key, because a prefix needs a slash.
const nameField = "metadata.name"

// ByLabels groups the nodes with the same values of these labels and, if taints is true, with the
// same taints, cordon and readiness. keys may contain nameField.
func (n *Nodes) ByLabels(keys []string, taints bool) *Groups {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	id := strings.Join(keys, ",")
	if taints {
		id += ",taints"
	}
	g := n.groups[id]
	if g == nil {
		g = n.GroupBy(func(b []byte, node *cluster.Node) []byte {
			for _, key := range keys {
				b = appendLabel(b, node, key)
			}
			if taints {
				b = appendState(b, node)
			}
			return b
		})
		n.groups[id] = g
	}
	return g
}

func appendLabel(b []byte, n *cluster.Node, key string) []byte {
	if key == nameField {
		return bytekey.AppendString(b, n.Name)
	}
	value, ok := n.Label(key)
	if !ok {
		return append(b, '-')
	}
	return bytekey.AppendString(append(b, '+'), value)
}

func appendState(b []byte, n *cluster.Node) []byte {
	for _, set := range [...]bool{n.Ready, n.Object.Spec.Unschedulable} {
		if set {
			b = append(b, '+')
		} else {
			b = append(b, '-')
		}
	}
	return AppendTaints(b, n.Object.Spec.Taints)
}

// AppendTaints appends a key for a list of taints.
func AppendTaints(b []byte, taints []corev1.Taint) []byte {
	for i := range taints {
		t := &taints[i]
		b = bytekey.AppendString(b, t.Key)
		b = bytekey.AppendString(b, t.Value)
		b = bytekey.AppendString(b, string(t.Effect))
	}
	return b
}

// GroupBy groups the nodes with the same key, which appendKey appends.
func (n *Nodes) GroupBy(appendKey func([]byte, *cluster.Node) []byte) *Groups {
	g := &Groups{Of: make([]int32, len(n.List))}
	index := map[string]int32{}
	var key []byte
	for i, node := range n.List {
		key = appendKey(key[:0], node)
		at, known := index[string(key)]
		if !known {
			at = int32(len(g.First))
			index[string(key)] = at
			g.First = append(g.First, node)
		}
		g.Of[i] = at
	}
	return g
}
