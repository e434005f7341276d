package annotation

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Cache remembers which objects of one snapshot carry requests. Most objects carry none, and the
// planner reads the requests of each object several times.
type Cache struct {
	pods      []searchResult // by pod
	inherited map[metav1.Object]bool
	latest    []inheritance // by workload: the newest entry of inherited
	nodes     []*Node
	// template is the template of the latest pod whose labels were searched, and inLabels the result. Neighbors mostly
	// have one template, so they have the same labels.
	template *cluster.Template
	inLabels bool
}

// inheritance says whether an owner, an owner of it or its namespace carries a request.
type inheritance struct {
	owner metav1.Object
	found bool
}

type searchResult byte

const (
	notSearched searchResult = iota
	noRequestsFound
	requestsFound
)

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{inherited: map[metav1.Object]bool{}} }

// IsMarked is Indexer.IsMarked: it reports whether the object itself carries a request.
func IsMarked(o metav1.Object) bool { return hasKnownKey(o) }

// hasOwnRequests reports whether the pod itself carries a request.
func (c *Cache) hasOwnRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	if p.Mark != cluster.UnknownMark {
		return p.Mark == cluster.Marked
	}
	if c.pods == nil {
		c.pods = make([]searchResult, len(s.Pods))
	}
	result := &c.pods[p.ID]
	if *result == notSearched {
		if *result = noRequestsFound; anyKnownPrefix(p.Object.Annotations) || c.labelsHaveRequests(p) {
			*result = requestsFound
		}
	}
	return *result == requestsFound
}

func (c *Cache) labelsHaveRequests(p *cluster.Pod) bool {
	if p.Template == nil {
		return anyKnownPrefix(p.Object.Labels)
	}
	if c.template != p.Template {
		c.template, c.inLabels = p.Template, anyKnownPrefix(p.Object.Labels)
	}
	return c.inLabels
}

// IsBeingEvicted reports whether another program has marked the pod itself as being evicted.
func (c *Cache) IsBeingEvicted(s *cluster.Snapshot, p *cluster.Pod) bool {
	return c.hasOwnRequests(s, p) && IsBeingEvicted(p.Object)
}

// inheritsRequests reports whether an owner of the pod, or its namespace, carries a request.
func (c *Cache) inheritsRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	if p.InheritedMark != cluster.UnknownMark {
		return p.InheritedMark == cluster.Marked
	}
	if len(p.Owners) == 0 || p.Workload == cluster.NoWorkload || p.Owners[0].GetNamespace() != p.Object.Namespace {
		return ownersOrNamespaceHaveRequests(s, p)
	}
	if c.latest == nil {
		c.latest = make([]inheritance, len(s.Workloads))
	}
	latest := &c.latest[p.Workload]
	if latest.owner == p.Owners[0] {
		return latest.found
	}
	found, known := c.inherited[p.Owners[0]]
	if !known {
		found = ownersOrNamespaceHaveRequests(s, p)
		c.inherited[p.Owners[0]] = found
	}
	*latest = inheritance{p.Owners[0], found}
	return found
}

func ownersOrNamespaceHaveRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	ns := s.Namespace(p.Object.Namespace)
	return slices.ContainsFunc(p.Owners, hasKnownKey) || ns != nil && hasKnownKey(ns)
}

// OfNode returns the requests on a node, which callers must not modify.
func (c *Cache) OfNode(s *cluster.Snapshot, id cluster.NodeID) *Node {
	if c.nodes == nil {
		c.nodes = make([]*Node, len(s.Nodes))
	}
	if c.nodes[id] == nil {
		c.nodes[id] = &nodeWithoutRequests
		if r := OfNode(&s.Nodes[id]); len(r.Exclude)+len(r.Problems) > 0 || r.DrainFirst {
			c.nodes[id] = &r
		}
	}
	return c.nodes[id]
}

var (
	nodeWithoutRequests Node
	podWithoutRequests  Pod
)

// IsEmpty reports whether OfPod found no object with a request.
func (p *Pod) IsEmpty() bool { return p == &podWithoutRequests }

// OfPod returns the requests that apply to a pod, which callers must not modify. Windows without a
// time zone use loc; nil means UTC.
func (c *Cache) OfPod(s *cluster.Snapshot, p *cluster.Pod, loc *time.Location) *Pod {
	if !c.hasOwnRequests(s, p) && !c.inheritsRequests(s, p) {
		return &podWithoutRequests
	}
	r := &Pod{}
	for i, o := range requestObjects(s, p) {
		r.readRequests(o, loc)
		r.Problems = append(r.Problems, o.unknownKeys(podKeys, nodeKeys)...)
		if i == 0 {
			r.readForeignKeys(o)
		}
		if _, isNamespace := o.meta.(*corev1.Namespace); !isNamespace {
			r.readGroups(o)
			r.readPaused(o)
		}
	}
	return r
}

// Problems lists every unreadable request in the snapshot once, sorted.
func (c *Cache) Problems(s *cluster.Snapshot, loc *time.Location) []Problem {
	var out []Problem
	seen := map[metav1.Object]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if c.hasOwnRequests(s, p) {
			out = append(out, podProblems(object{"pod " + p.Object.Namespace + "/" + p.Object.Name, p.Object}, loc)...)
		}
		if !c.inheritsRequests(s, p) {
			continue
		}
		for _, o := range requestObjects(s, p)[1:] {
			if !seen[o.meta] {
				seen[o.meta] = true
				out = append(out, objectProblems(o, loc)...)
			}
		}
	}
	for i := range s.Nodes {
		out = append(out, c.OfNode(s, cluster.NodeID(i)).Problems...)
	}
	sortProblems(out)
	return slices.Compact(out)
}
