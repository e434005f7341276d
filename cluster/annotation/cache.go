package annotation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Cache remembers which pods and owners carry requests, and the requests of each node. It is
// valid for one snapshot. Most objects carry no request, and the planner asks about each of
// them several times.
type Cache struct {
	inherited map[metav1.Object]bool
	pods      []byte // by pod: 0 if not checked yet, else one of the constants below
	nodes     []*Node
}

const (
	noRequestsFound = iota + 1
	requestsFound
)

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{inherited: map[metav1.Object]bool{}} }

// hasRequests reports whether the pod, an owner or its namespace carries a key that has a
// meaning.
func (m *Cache) hasRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	return m.hasOwnRequests(s, p) || m.inheritsRequests(s, p)
}

// hasOwnRequests reports whether the pod itself carries such a key.
func (m *Cache) hasOwnRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	if m == nil {
		return hasKnownKey(p.Object)
	}
	if m.pods == nil {
		m.pods = make([]byte, len(s.Pods))
	}
	seen := &m.pods[p.ID]
	if *seen == 0 {
		if *seen = noRequestsFound; hasKnownKey(p.Object) {
			*seen = requestsFound
		}
	}
	return *seen == requestsFound
}

// OfNode returns the same as the function OfNode and reads each node only once. Callers must
// not modify the result.
func (m *Cache) OfNode(s *cluster.Snapshot, id cluster.NodeID) *Node {
	if m == nil {
		r := OfNode(&s.Nodes[id])
		return &r
	}
	if m.nodes == nil {
		m.nodes = make([]*Node, len(s.Nodes))
	}
	if m.nodes[id] == nil {
		if r := OfNode(&s.Nodes[id]); len(r.Exclude)+len(r.Problems) > 0 || r.DrainFirst {
			m.nodes[id] = &r
		} else {
			m.nodes[id] = &nodeWithoutRequests
		}
	}
	return m.nodes[id]
}

var nodeWithoutRequests Node

func (m *Cache) inheritsRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	if m == nil || len(p.Owners) == 0 {
		return inheritsRequests(s, p)
	}
	asks, seen := m.inherited[p.Owners[0]]
	if !seen {
		asks = inheritsRequests(s, p)
		m.inherited[p.Owners[0]] = asks
	}
	return asks
}

func inheritsRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	if slices.ContainsFunc(p.Owners, hasKnownKey) {
		return true
	}
	ns := s.Namespace(p.Object.Namespace)
	return ns != nil && hasKnownKey(ns)
}

// OfPod returns the same as the function OfPod. It is faster if many pods are read.
func (m *Cache) OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	if loc == nil {
		loc = time.UTC
	}
	var r Pod
	if !m.hasRequests(s, p) {
		return r
	}
	for i, o := range requestObjects(s, p) {
		r.readEvict(o)
		r.readProtection(o, DoNotDisrupt)
		r.readWindows(o, loc)
		r.Problems = append(r.Problems, o.unknownKeys(podKeys, nodeKeys)...)
		if i == 0 {
			r.readForeignKeys(o)
		}
	}
	return r
}

// Problems returns the same as the function Problems and uses the cache.
func (m *Cache) Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	if loc == nil {
		loc = time.UTC
	}
	var out []Problem
	seen := map[metav1.Object]bool{}
	add := func(o object) {
		if seen[o.meta] || len(o.meta.GetAnnotations())+len(o.meta.GetLabels()) == 0 {
			return
		}
		seen[o.meta] = true
		out = append(out, objectProblems(o, loc)...)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if m.hasOwnRequests(s, p) {
			own := object{"pod " + p.Object.Namespace + "/" + p.Object.Name, p.Object}
			out = append(out, objectProblems(own, loc)...)
			var foreign Pod
			foreign.readForeignKeys(own)
			out = append(out, foreign.Problems...)
		}
		if !m.inheritsRequests(s, p) {
			continue
		}
		for _, o := range requestObjects(s, p)[1:] {
			add(o)
		}
	}
	for i := range s.Nodes {
		out = append(out, m.OfNode(s, cluster.NodeID(i)).Problems...)
	}
	sortProblems(out)
	return slices.Compact(out)
}

// Problems lists every unreadable request in the snapshot once, sorted. It takes O(pods x
// keys).
func Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	return NewCache().Problems(s, loc)
}

// OfPod collects the requests that apply to a pod. Windows without a time zone use loc; nil
// means UTC.
func OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) Pod {
	return (*Cache)(nil).OfPod(s, p, loc)
}
