// Package annotation reads what people ask for by annotations and labels: on a
// pod, on the owners above it, on its namespace, and on nodes.
//
// It decides what a value means and which of several requests is the strictest.
// A value that cannot be read, and an evenkeel.io key that is not known, is a
// Problem; where it could have been meant to protect a pod, it protects it. It
// never decides whether a pod moves: packages guard, planner and strategies do.
package annotation

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// Prefix of all keys of our own.
const Prefix = "evenkeel.io/"

// Keys of our own: annotations, or labels where the value is a plain word.
const (
	Evict        = Prefix + "evict"          // never | prefer
	DoNotDisrupt = Prefix + "do-not-disrupt" // true | false | a duration from the pod's start
	AllowWindow  = Prefix + "window"         // when the pod may be evicted
	SpreadBy     = Prefix + "spread-by"      // topology key
	MaxSkew      = Prefix + "max-skew"       // a number from 1
	ZoneSLO      = Prefix + "zone-slo"       // 3 | 4: worst failure category allowed
	Exclude      = Prefix + "exclude"        // on a node: true | false
	DrainFirst   = Prefix + "drain-first"    // on a node: true | false
)

// Keys of neighbours that are honoured where these read them.
const (
	deschedulerPrefix             = "descheduler.alpha.kubernetes.io/"
	DeschedulerEvict              = deschedulerPrefix + "evict"
	DeschedulerPreferNoEviction   = deschedulerPrefix + "prefer-no-eviction"
	DeschedulerEvictionInProgress = deschedulerPrefix + "eviction-in-progress"
	SafeToEvict                   = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	KarpenterNoDisrupt            = "karpenter.sh/do-not-disrupt"
	KarpenterNoEvict              = "karpenter.sh/do-not-evict"
)

// keySet is a kind of object, and our keys on it.
type keySet struct {
	objects string
	keys    []string
	// reserved are keys of hints, which Evenkeel itself writes: they ask for
	// nothing, and nobody is told to write them.
	reserved []string
}

var (
	podKeys  = keySet{"pods, workloads and namespaces", []string{Evict, DoNotDisrupt, AllowWindow, SpreadBy, MaxSkew, ZoneSLO}, nil}
	nodeKeys = keySet{"nodes", []string{Exclude, DrainFirst}, []string{Prefix + "pressure", Prefix + "steer"}}
)

func (p keySet) contains(key string) bool {
	return slices.Contains(p.keys, key) || slices.Contains(p.reserved, key)
}

// Source says where a request stands.
type Source struct {
	Object string // such as "Deployment shop/d", or "the pod"
	Key    string
	Value  string
}

// String is the request as a person wrote it.
func (s Source) String() string { return fmt.Sprintf("%s: %q on %s", s.Key, s.Value, s.Object) }

// Problem is a request that cannot be read, or that nobody reads where it stands.
type Problem struct {
	Source
	// Want says what would be read.
	Want string
	// Cause says what is wrong, where more is known than that it is not wanted.
	Cause string
	// Misplaced: the key does not exist, or not here; whatever its value says.
	Misplaced bool
}

// String says what is wrong and what to write.
func (p Problem) String() string {
	switch {
	case p.Misplaced:
		return fmt.Sprintf("%s: %s", p.Source, p.Cause)
	case p.Cause != "":
		return fmt.Sprintf("%s cannot be read: %s", p.Source, p.Cause)
	}
	return fmt.Sprintf("%s cannot be read (want %s)", p.Source, p.Want)
}

// object is anything that carries requests.
type object struct {
	name string
	meta metav1.Object
}

// values of a key: of its annotation, and of its label where that says something
// else.
func (o object) values(key string) []Source {
	var out []Source
	v, annotated := o.meta.GetAnnotations()[key]
	if annotated {
		out = append(out, Source{o.name, key, v})
	}
	if l, ok := o.meta.GetLabels()[key]; ok && !(annotated && l == v) {
		out = append(out, Source{o.name, key, l})
	}
	return out
}

// unknownKeys lists keys of our prefix that mean nothing here.
func (o object) unknownKeys(here, elsewhere keySet) []Problem {
	var out []Problem
	for _, m := range [...]map[string]string{o.meta.GetAnnotations(), o.meta.GetLabels()} {
		for key, v := range m {
			if strings.HasPrefix(key, Prefix) && !here.contains(key) {
				out = append(out, Problem{Source: Source{o.name, key, truncate(v)}, Want: "one of " + strings.Join(here.keys, ", "),
					Cause: misplacedCause(key, here, elsewhere), Misplaced: true})
			}
		}
	}
	sortProblems(out)
	return out
}

// misplacedCause says why a key means nothing here.
func misplacedCause(key string, here, elsewhere keySet) string {
	if elsewhere.contains(key) {
		return "it belongs on " + elsewhere.objects
	}
	// All begin with the prefix, which would make every key look near.
	var known []string
	for _, k := range here.keys {
		known = append(known, strings.TrimPrefix(k, Prefix))
	}
	if near := suggest.Nearest(strings.TrimPrefix(key, Prefix), known); near != "" {
		return "no such key (did you mean " + Prefix + near + "?)"
	}
	return "no such key on " + here.objects + " (want one of " + strings.Join(here.keys, ", ") + ")"
}

// requestObjects of a pod's requests: itself, the owners above it, its namespace.
func requestObjects(s *cluster.Snapshot, p *cluster.Pod) []object {
	out := append(make([]object, 0, 4), object{"the pod", p.Object})
	for i, o := range p.Owners {
		if isDeploymentCopy(p.Owners[i:]) {
			continue
		}
		out = append(out, object{ownerName(o), o})
	}
	if ns := s.Namespace(p.Object.Namespace); ns != nil {
		out = append(out, object{"namespace " + ns.Name, ns})
	}
	return out
}

// Cache keeps which pods and owners carry requests, and what nodes ask for. It holds
// for one snapshot. Most have none, and a planner asks about all of them, several times.
type Cache struct {
	inherited map[metav1.Object]bool
	pods      []byte // by pod: not known yet, or one of these
	nodes     []*Node
}

const (
	noRequestsFound = iota + 1
	requestsFound
)

// NewCache remembers nothing yet.
func NewCache() *Cache { return &Cache{inherited: map[metav1.Object]bool{}} }

// hasRequests reports whether any key that means something stands on a pod, what is above
// it, or its namespace.
func (m *Cache) hasRequests(s *cluster.Snapshot, p *cluster.Pod) bool {
	return m.hasOwnRequests(s, p) || m.inheritsRequests(s, p)
}

// hasOwnRequests reports whether such a key stands on the pod itself.
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

// OfNode is OfNode, read once for each node of the snapshot. Nobody may change it.
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

// hasKnownKey: a key begins as ours and those of neighbours do.
func hasKnownKey(o metav1.Object) bool {
	return anyKnownPrefix(o.GetAnnotations()) || anyKnownPrefix(o.GetLabels())
}

func anyKnownPrefix(m map[string]string) bool {
	for key := range m {
		if key == "" {
			continue
		}
		prefix := ""
		switch key[0] { // the prefixes begin with letters of their own
		case Prefix[0]:
			prefix = Prefix
		case deschedulerPrefix[0]:
			prefix = deschedulerPrefix
		case 'c':
			prefix = "cluster-autoscaler.kubernetes.io/"
		case 'k':
			prefix = "karpenter.sh/"
		default:
			continue
		}
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// isDeploymentCopy: the first owner is a ReplicaSet below a Deployment. Its controller
// copies the Deployment's annotations to it but never takes one off again, so
// that a request which was withdrawn would live on there.
func isDeploymentCopy(owners []metav1.Object) bool {
	if len(owners) < 2 {
		return false
	}
	_, copied := owners[0].(*appsv1.ReplicaSet)
	_, original := owners[1].(*appsv1.Deployment)
	return copied && original
}
