package ranking

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
)

// Classes holds one value for all pods with the same node selector, node affinity, tolerations and targets. They decide
// on which nodes the pods can run and which they prefer.
type Classes[T any] struct {
	nodes       *Nodes
	byKey       map[string]*T
	key         []byte // reused
	lastSpec    *corev1.PodSpec
	lastTargets int
	lastValue   *T
}

// NewClasses returns empty classes.
func NewClasses[T any](n *Nodes) Classes[T] { return Classes[T]{nodes: n, byKey: map[string]*T{}} }

// Of returns the value of the class of a pod. It calls create for the first pod of a class.
func (c *Classes[T]) Of(p *cluster.Pod, create func() *T) *T {
	spec, targets := &p.Object.Spec, c.nodes.targets.Of(p).Number
	// The pods of a workload are neighbours. To compare two of them is faster than to build a key.
	if c.lastSpec != nil && c.lastTargets == targets && sameClass(c.lastSpec, spec) {
		return c.lastValue
	}
	c.key = appendKey(binary.AppendVarint(c.key[:0], int64(targets)), spec)
	v := c.byKey[string(c.key)]
	if v == nil {
		v = create()
		c.byKey[string(c.key)] = v
	}
	c.lastSpec, c.lastTargets, c.lastValue = spec, targets, v
	return v
}

func appendKey(b []byte, s *corev1.PodSpec) []byte {
	b = bytekey.AppendMap(b, s.NodeSelector)
	if a := nodeAffinity(s); a != nil {
		b = bytekey.AppendMessage(b, a)
	} else {
		b = append(b, 0)
	}
	for i := range s.Tolerations {
		b = bytekey.AppendMessage(b, &s.Tolerations[i])
	}
	return b
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		return nil
	}
	return s.Affinity.NodeAffinity
}

func sameClass(a, b *corev1.PodSpec) bool {
	return maps.Equal(a.NodeSelector, b.NodeSelector) && slices.EqualFunc(a.Tolerations, b.Tolerations, sameToleration) &&
		sameAffinity(nodeAffinity(a), nodeAffinity(b))
}

func sameToleration(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect &&
		ptr.Equal(a.TolerationSeconds, b.TolerationSeconds)
}

func sameAffinity(a, b *corev1.NodeAffinity) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	x, y := a.RequiredDuringSchedulingIgnoredDuringExecution, b.RequiredDuringSchedulingIgnoredDuringExecution
	if (x == nil) != (y == nil) || x != nil && !slices.EqualFunc(x.NodeSelectorTerms, y.NodeSelectorTerms, sameTerm) {
		return false
	}
	return slices.EqualFunc(a.PreferredDuringSchedulingIgnoredDuringExecution, b.PreferredDuringSchedulingIgnoredDuringExecution,
		func(x, y corev1.PreferredSchedulingTerm) bool {
			return x.Weight == y.Weight && sameTerm(x.Preference, y.Preference)
		})
}

func sameTerm(a, b corev1.NodeSelectorTerm) bool {
	return slices.EqualFunc(a.MatchExpressions, b.MatchExpressions, sameRequirement) &&
		slices.EqualFunc(a.MatchFields, b.MatchFields, sameRequirement)
}

func sameRequirement(a, b corev1.NodeSelectorRequirement) bool {
	return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
}
