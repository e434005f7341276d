package topologyspread

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// constraint is one topology spread constraint, as kube-scheduler reads it for the pods that declare it.
type constraint struct {
	topologyKey string
	maxSkew     int
	minDomains  int
	pods        *podSet
	nodes       *nodeSet
	// declaredBy is the first running pod in scope that declares the constraint and is selected by it.
	declaredBy *cluster.Pod
}

// podSet is the pods that a constraint selects.
type podSet struct {
	key       string
	namespace string
	selector  labels.Selector // with the values of matchLabelKeys; nil if it selects no pods
	running   []cluster.PodID
	// first is the first set with the same running pods. It is nil until they are known.
	first *podSet
}

// finder finds the constraints of a snapshot, the nodes and the pods that they count.
type finder struct {
	snapshot    *cluster.Snapshot
	index       *cluster.PodIndex
	topologies  *topology.Cache
	constraints []*constraint
	byKey       map[string]*constraint
	// declared caches the constraints of pods that declare the same, by a key of all that they declare.
	declared map[string][]*constraint
	nodeSets map[string]*nodeSet
	podSets  map[string]*podSet
	// sameNodes and samePods hold the first set with these nodes or pods.
	sameNodes map[string]*nodeSet
	samePods  map[string]*podSet
	buffer    []byte
	// last is the latest pod given to addConstraints, and lastFound what it declares.
	last      *corev1.Pod
	lastFound []*constraint
}

func newFinder(s *cluster.Snapshot, scope cluster.Scope) *finder {
	return &finder{snapshot: s, index: cluster.NewPodIndex(s), topologies: topology.NewCache(s, scope), byKey: map[string]*constraint{},
		declared: map[string][]*constraint{}, nodeSets: map[string]*nodeSet{}, podSets: map[string]*podSet{},
		sameNodes: map[string]*nodeSet{}, samePods: map[string]*podSet{}}
}

// addConstraints adds the constraints of a pod that have one of the actions.
func (f *finder) addConstraints(p *cluster.Pod, actions []string) {
	if f.last == nil || !sharesDeclaration(p.Object, f.last) {
		f.last, f.lastFound = p.Object, f.declaredBy(p.Object, actions)
	}
	for _, c := range f.lastFound {
		if c.declaredBy == nil && c.pods.selector.Matches(labels.Set(p.Object.Labels)) {
			c.declaredBy = p
		}
	}
}

// sharesDeclaration is a fast path: it reports whether two pods declare equal constraints because they share the
// fields of their template in memory, as pods of one controller do after package observe has read them.
func sharesDeclaration(a, b *corev1.Pod) bool {
	x, y := &a.Spec, &b.Spec
	same := a.Namespace == b.Namespace && x.Affinity == y.Affinity && maps.Equal(x.NodeSelector, y.NodeSelector) &&
		shared(x.TopologySpreadConstraints, y.TopologySpreadConstraints) && shared(x.Tolerations, y.Tolerations)
	for i := 0; same && i < len(x.TopologySpreadConstraints); i++ {
		for _, k := range x.TopologySpreadConstraints[i].MatchLabelKeys {
			v, inA := a.Labels[k]
			w, inB := b.Labels[k]
			same = same && v == w && inA == inB
		}
	}
	return same
}

// shared reports whether two slices are the same memory.
func shared[T any](x, y []T) bool { return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0]) }

// declaredBy returns the constraints of a pod that have one of the actions.
func (f *finder) declaredBy(p *corev1.Pod, actions []string) []*constraint {
	f.buffer = appendDeclared(f.buffer[:0], p)
	found, known := f.declared[string(f.buffer)]
	if known {
		return found
	}
	nodes := map[nodeRules]*nodeSet{}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		if !slices.Contains(actions, string(c.WhenUnsatisfiable)) {
			continue
		}
		rules := nodeRules{c.WhenUnsatisfiable, honorsAffinity(c), honorsTaints(c)}
		if nodes[rules] == nil {
			nodes[rules] = f.nodeSet(p, rules)
		}
		if x := f.constraint(p, c, nodes[rules]); x != nil {
			found = append(found, x)
		}
	}
	f.declared[string(f.buffer)] = found
	return found
}

// constraint returns a constraint of a pod that counts these nodes, or nil for a constraint that selects no pods.
func (f *finder) constraint(p *corev1.Pod, c *corev1.TopologySpreadConstraint, nodes *nodeSet) *constraint {
	x := &constraint{topologyKey: c.TopologyKey, maxSkew: int(c.MaxSkew), pods: f.podSet(p, c), nodes: nodes}
	if x.pods.selector == nil {
		return nil
	}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule {
		x.minDomains = int(ptr.Deref(c.MinDomains, 1))
	}
	key := appendStrings(nil, x.pods.key, x.topologyKey)
	for _, n := range [...]int{x.nodes.number, x.maxSkew, x.minDomains} {
		key = binary.AppendVarint(key, int64(n))
	}
	if known := f.byKey[string(key)]; known != nil {
		return known
	}
	f.byKey[string(key)] = x
	f.constraints = append(f.constraints, x)
	return x
}

// podSet returns the pods that a constraint of a pod selects. As in the scheduler, an empty selector and a missing one
// select no pods. So does an invalid selector.
func (f *finder) podSet(p *corev1.Pod, c *corev1.TopologySpreadConstraint) *podSet {
	key := string(appendSelected(nil, p, c))
	if known := f.podSets[key]; known != nil {
		return known
	}
	set := &podSet{key: key, namespace: p.Namespace}
	if sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector); err == nil {
		sel = addMatchLabelKeys(sel, c.MatchLabelKeys, p.Labels)
		if _, selectable := sel.Requirements(); selectable && !sel.Empty() {
			set.selector = sel
		}
	}
	f.podSets[key] = set
	return set
}

// addMatchLabelKeys adds the pod's values of the keys to the selector. API servers 1.34 and later have already added
// these values; adding them twice changes nothing.
func addMatchLabelKeys(sel labels.Selector, keys []string, pod map[string]string) labels.Selector {
	own := labels.Set{}
	for _, k := range keys {
		if v, ok := pod[k]; ok {
			own[k] = v
		}
	}
	reqs, selectable := sel.Requirements()
	if len(own) == 0 || !selectable {
		return sel
	}
	return labels.SelectorFromSet(own).Add(reqs...)
}

// appendDeclared appends a key for all fields of a pod that constraint reads. Pods with equal keys declare equal
// constraints.
func appendDeclared(b []byte, p *corev1.Pod) []byte {
	affinity, taints := false, false
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		b = appendStrings(b, c.TopologyKey, string(c.WhenUnsatisfiable))
		b = binary.AppendVarint(binary.AppendVarint(b, int64(c.MaxSkew)), int64(ptr.Deref(c.MinDomains, 1)))
		b = appendSelected(b, p, c)
		b = strconv.AppendBool(strconv.AppendBool(b, honorsAffinity(c)), honorsTaints(c))
		affinity, taints = affinity || honorsAffinity(c), taints || honorsTaints(c)
	}
	if affinity {
		b = topology.AppendNodeAffinity(append(b, '\n'), &p.Spec)
	}
	if taints {
		b = topology.AppendTolerations(append(b, '\n'), &p.Spec)
	}
	return b
}

// appendSelected appends a key for the pods that a constraint of a pod selects.
func appendSelected(b []byte, p *corev1.Pod, c *corev1.TopologySpreadConstraint) []byte {
	b = appendStrings(b, p.Namespace)
	for _, k := range c.MatchLabelKeys {
		if v, ok := p.Labels[k]; ok {
			b = appendStrings(append(b, 'm'), k, v)
		}
	}
	s := c.LabelSelector
	if s == nil {
		return append(b, 'n')
	}
	var few [4]string // on the stack, because a large cluster has a selector for each pod
	keys := few[:0]
	for k := range s.MatchLabels {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = appendStrings(append(b, 'l'), k, s.MatchLabels[k])
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		b = appendStrings(append(b, 'e'), e.Key, string(e.Operator))
		b = appendStrings(binary.AppendUvarint(b, uint64(len(e.Values))), e.Values...)
	}
	return append(b, 's')
}

// appendStrings appends each string with its length, so that different lists give different bytes.
func appendStrings(b []byte, list ...string) []byte {
	for _, v := range list {
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return b
}
