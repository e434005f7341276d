package nodeaffinity

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/bytekey"
	"github.com/evenkeel-project/evenkeel/strategies/ranking"
)

// index holds what pods share. Thousands of pods have the same node affinity, and different affinities share terms.
type index struct {
	nodes   *ranking.Nodes
	classes ranking.Classes[class]
	matches map[string][]bool // by preferred term: the nodes that match it; nil: the term cannot be read
	key     []byte            // reused
}

// class is the pods with equal node constraints.
type class struct {
	groups   *ranking.Groups
	required nodeaffinity.RequiredNodeAffinity
	checked  []int8           // by group: 0 not checked, 1 matches, 2 does not
	ranking  *ranking.Ranking // nil: the pods prefer no node, or a term cannot be read
}

func newIndex(s *cluster.Snapshot, scope cluster.Scope) *index {
	nodes := ranking.NewNodes(s, scope)
	return &index{nodes: nodes, classes: ranking.NewClasses[class](nodes), matches: map[string][]bool{}}
}

// class returns the class of a pod. The class has a ranking only if preferred is true.
func (x *index) class(p *cluster.Pod, preferred bool) *class {
	return x.classes.Of(p, func() *class {
		c := &class{groups: x.nodes.RequiredGroups(&p.Object.Spec), required: nodeaffinity.GetRequiredNodeAffinity(p.Object)}
		c.checked = make([]int8, len(c.groups.First))
		if a := p.Object.Spec.Affinity; preferred && a != nil && a.NodeAffinity != nil {
			if sums := x.weightSums(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution); sums != nil {
				c.ranking = x.nodes.New(p, sums)
			}
		}
		return c
	})
}

// violates reports whether the node does not match. An affinity that cannot be read is not violated.
func (c *class) violates(n cluster.NodeID) bool {
	g := c.groups.Of[n]
	if c.checked[g] == 0 {
		c.checked[g] = 1
		if ok, err := c.required.Match(c.groups.First[g].Object); err == nil && !ok {
			c.checked[g] = 2
		}
	}
	return c.checked[g] == 2
}

// better returns the nodes that the pods prefer to this one, or nil if there is none.
func (c *class) better(than cluster.NodeID) *ranking.Better {
	if c.ranking == nil {
		return nil
	}
	return c.ranking.Better(than)
}

// weightSums returns, by node, the sum of the weights of the terms that the node matches, as NodeAffinity of the
// scheduler computes it. It returns nil without terms, or if one of them cannot be read.
func (x *index) weightSums(terms []corev1.PreferredSchedulingTerm) []int64 {
	if len(terms) == 0 {
		return nil
	}
	sums := make([]int64, len(x.nodes.List))
	for i := range terms {
		matches := x.matching(&terms[i].Preference)
		if matches == nil {
			return nil
		}
		for n, ok := range matches {
			if ok {
				sums[n] += int64(terms[i].Weight)
			}
		}
	}
	return sums
}

// matching returns, by node, whether the node matches the term, or nil if the term cannot be read.
func (x *index) matching(t *corev1.NodeSelectorTerm) []bool {
	x.key = bytekey.AppendMessage(x.key[:0], t)
	matches, known := x.matches[string(x.key)]
	if known {
		return matches
	}
	// With a weight of 1, the score of a node is 1 if the node matches.
	single, err := nodeaffinity.NewPreferredSchedulingTerms([]corev1.PreferredSchedulingTerm{{Weight: 1, Preference: *t}})
	if err == nil {
		groups := x.nodes.ByLabels(ranking.LabelsOf(t), false)
		ofGroup := make([]bool, len(groups.First))
		for i, first := range groups.First {
			ofGroup[i] = single.Score(first.Object) > 0
		}
		matches = make([]bool, len(groups.Of))
		for n, g := range groups.Of {
			matches[n] = ofGroup[g]
		}
	}
	x.matches[string(x.key)] = matches
	return matches
}
