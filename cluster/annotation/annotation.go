// Package annotation reads the requests that people state in annotations and labels: on a pod,
// its owners, its namespace, and on nodes.
//
// It decides what a value means and which of several requests is the strictest. An unreadable
// value or an unknown evenkeel.io key is a Problem. If such a request could protect a pod, the
// pod is protected. The package never decides whether a pod moves: the guards, the planner and
// the strategies do that.
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

// Prefix starts every key that Evenkeel defines.
const Prefix = "evenkeel.io/"

// Keys that Evenkeel defines. Each can be an annotation, or a label if the value is a valid
// label value.
const (
	Evict        = Prefix + "evict"          // never | prefer
	DoNotDisrupt = Prefix + "do-not-disrupt" // true | false | a duration from the pod's start
	AllowWindow  = Prefix + "window"         // when the pod may be evicted
	SpreadBy     = Prefix + "spread-by"      // topology key
	MaxSkew      = Prefix + "max-skew"       // an integer of 1 or more
	ZoneSLO      = Prefix + "zone-slo"       // 3 | 4: worst failure category allowed
	Exclude      = Prefix + "exclude"        // on a node: true | false
	DrainFirst   = Prefix + "drain-first"    // on a node: true | false
)

// Keys of the descheduler, Cluster Autoscaler and Karpenter. They count on the objects on which
// those programs read them.
const (
	deschedulerPrefix             = "descheduler.alpha.kubernetes.io/"
	DeschedulerEvict              = deschedulerPrefix + "evict"
	DeschedulerPreferNoEviction   = deschedulerPrefix + "prefer-no-eviction"
	DeschedulerEvictionInProgress = deschedulerPrefix + "eviction-in-progress"
	SafeToEvict                   = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	KarpenterNoDisrupt            = "karpenter.sh/do-not-disrupt"
	KarpenterNoEvict              = "karpenter.sh/do-not-evict"
)

// keySet lists the Evenkeel keys that are valid on one kind of object.
type keySet struct {
	objects string
	keys    []string
	// reserved are the keys of the hints that Evenkeel writes. They are valid, but they are not
	// requests and are not suggested to people.
	reserved []string
}

var (
	podKeys  = keySet{"pods, workloads and namespaces", []string{Evict, DoNotDisrupt, AllowWindow, SpreadBy, MaxSkew, ZoneSLO}, nil}
	nodeKeys = keySet{"nodes", []string{Exclude, DrainFirst}, []string{Prefix + "pressure", Prefix + "steer"}}
)

func (p keySet) contains(key string) bool {
	return slices.Contains(p.keys, key) || slices.Contains(p.reserved, key)
}

// Source says on which object a request was found.
type Source struct {
	Object string // such as "Deployment shop/d", or "the pod"
	Key    string
	Value  string
}

// String returns the key, the value as it was written, and the object.
func (s Source) String() string { return fmt.Sprintf("%s: %q on %s", s.Key, s.Value, s.Object) }

// Problem is a request that cannot be read, or a key that has no meaning on its object.
type Problem struct {
	Source
	// Want describes the values that are accepted.
	Want string
	// Cause says what is wrong with the value. If it is empty, only Want is shown.
	Cause string
	// Misplaced means that the key is unknown or belongs on another kind of object. The value
	// does not matter.
	Misplaced bool
}

// String says what is wrong and which values are accepted.
func (p Problem) String() string {
	switch {
	case p.Misplaced:
		return fmt.Sprintf("%s: %s", p.Source, p.Cause)
	case p.Cause != "":
		return fmt.Sprintf("%s cannot be read: %s", p.Source, p.Cause)
	}
	return fmt.Sprintf("%s cannot be read (want %s)", p.Source, p.Want)
}

// object is an API object that can carry requests.
type object struct {
	name string
	meta metav1.Object
}

// values returns the values of a key: that of the annotation, and that of the label if it
// differs.
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

// unknownKeys returns a problem for each evenkeel.io key that has no meaning on this object.
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

// misplacedCause says why a key has no meaning on this object.
func misplacedCause(key string, here, elsewhere keySet) string {
	if elsewhere.contains(key) {
		return "it belongs on " + elsewhere.objects
	}
	// All keys share the prefix, so suggestions compare only the rest.
	var known []string
	for _, k := range here.keys {
		known = append(known, strings.TrimPrefix(k, Prefix))
	}
	if near := suggest.Nearest(strings.TrimPrefix(key, Prefix), known); near != "" {
		return "no such key (did you mean " + Prefix + near + "?)"
	}
	return "no such key on " + here.objects + " (want one of " + strings.Join(here.keys, ", ") + ")"
}

// requestObjects returns the objects whose requests apply to a pod: the pod, its owners, and
// its namespace.
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

// hasKnownKey reports whether an object has a key with the prefix of Evenkeel or of a program
// whose keys are honoured.
func hasKnownKey(o metav1.Object) bool {
	return anyKnownPrefix(o.GetAnnotations()) || anyKnownPrefix(o.GetLabels())
}

func anyKnownPrefix(m map[string]string) bool {
	for key := range m {
		if key == "" {
			continue
		}
		prefix := ""
		switch key[0] { // each prefix starts with a different letter
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

// isDeploymentCopy reports whether the first owner is a ReplicaSet of a Deployment. The
// deployment controller copies annotations to the ReplicaSet but never removes them there, so a
// withdrawn request would remain.
func isDeploymentCopy(owners []metav1.Object) bool {
	if len(owners) < 2 {
		return false
	}
	_, copied := owners[0].(*appsv1.ReplicaSet)
	_, original := owners[1].(*appsv1.Deployment)
	return copied && original
}
