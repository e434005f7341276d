package pressure

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// State says how it is about a hint on a node.
type State string

const (
	// Present: it is on the node, and stays.
	Present State = "present"
	// ToWrite: the rules want it, and it is not on the node.
	ToWrite State = "wouldBeWritten"
	// ToRemove: it is on the node, and the rules do not want it any more.
	ToRemove State = "wouldBeCleared"
	// Expired: it is on the node and has expired.
	Expired State = "expired"
	// NotOurs: somebody else's label or taint stands where ours would.
	NotOurs State = "foreign"
	// AwaitingSamples: a level is exceeded, and not yet by enough samples in a row.
	AwaitingSamples State = "awaitingSamples"
	// LimitReached: the node is hot, and as many hotter ones carry the hint as may.
	LimitReached State = "limitReached"
)

// NodeHint is a hint that stands on a node, or would, or what is in its place.
type NodeHint struct {
	Hint
	State State
	// Samples of RequiredSamples have exceeded the level, where State is Counting.
	Samples, RequiredSamples int
	// Foreign is set where State is Others.
	Foreign Foreign
}

// Predict returns the nodes that would look otherwise if the hints that the rules want
// now were written, and those that they do not want were taken away; by name, each as
// Put or Take leaves it. It begins without memory: what an earlier decision knew of
// nodes that are not measured now is on the nodes or nowhere.
func (o Options) Predict(nodes []*corev1.Node, usage *cluster.Usage, now time.Time) map[string]*corev1.Node {
	by := byName(nodes)
	out := map[string]*corev1.Node{}
	for _, c := range o.Decide(nodes, usage, LastHot{}, now).Changes {
		out[c.Node] = applyChange(by[c.Node], c)
	}
	return out
}

func applyChange(n *corev1.Node, c Change) *corev1.Node {
	if c.Hint == nil {
		out, _ := Remove(n)
		return out
	}
	out, _ := Put(n, *c.Hint)
	return out
}

// NodeHints lists the hints on the nodes, those that the rules want, and what of
// others stands under the keys of the label and the taint; by node.
func (o Options) NodeHints(nodes []*corev1.Node, usage *cluster.Usage, labelKey, taintKey string, now time.Time) []NodeHint {
	d := o.Decide(nodes, usage, LastHot{}, now)
	changes := map[string]Change{}
	for _, c := range d.Changes {
		changes[c.Node] = c
	}
	var out []NodeHint
	spoken := map[string]bool{}
	for _, n := range nodes {
		c, changed := changes[n.Name]
		if s, is := nodeHint(n, c, changed, now); is {
			out, spoken[n.Name] = append(out, s), true
		}
		for _, f := range ForeignOn(n, labelKey, taintKey) {
			out = append(out, NodeHint{Hint: Hint{Node: n.Name}, State: NotOurs, Foreign: f})
		}
	}
	for _, name := range d.Capped {
		out = append(out, NodeHint{Hint: Hint{Node: name}, State: LimitReached})
	}
	out = append(out, o.counting(byName(nodes), usage, spoken)...)
	slices.SortStableFunc(out, func(a, b NodeHint) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// nodeHint is what stands on a node or would, where a change is due.
func nodeHint(n *corev1.Node, c Change, changed bool, now time.Time) (NodeHint, bool) {
	old, ours := Of(n)
	switch {
	case changed && c.Hint != nil && (!ours || old.Expired(now)):
		h, _ := Of(applyChange(n, c)) // as it would be recorded
		return NodeHint{Hint: h, State: ToWrite}, true
	case !ours:
		return NodeHint{}, false
	case old.Expired(now):
		return NodeHint{Hint: old, State: Expired}, true
	case changed && c.Hint == nil:
		return NodeHint{Hint: old, State: ToRemove}, true
	}
	return NodeHint{Hint: old, State: Present}, true
}

// counting are the nodes that no hint is spoken of and that exceed a level, not yet by
// as many samples in a row as the rule wants; of each node the rule that wants fewest.
func (o Options) counting(nodes map[string]*corev1.Node, usage *cluster.Usage, spoken map[string]bool) []NodeHint {
	if usage == nil {
		return nil
	}
	d := decider{Options: o}
	best := map[string]NodeHint{}
	for _, m := range usage.Marks {
		n := nodes[m.Node]
		i := slices.IndexFunc(o.Rules, func(r Rule) bool { return r.WatchName() == m.Watch })
		if i < 0 || n == nil || spoken[m.Node] || m.Hot || m.Samples < 1 || m.Samples >= m.Required || d.outOfScope(n) || d.mustSkip(n) {
			continue
		}
		if b, there := best[m.Node]; !there || m.Required-m.Samples < b.RequiredSamples-b.Samples {
			best[m.Node] = NodeHint{Hint: Hint{Node: m.Node, Rule: o.Rules[i].Name, Value: m.Value}, State: AwaitingSamples, Samples: m.Samples, RequiredSamples: m.Required}
		}
	}
	out := make([]NodeHint, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b NodeHint) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

func byName(nodes []*corev1.Node) map[string]*corev1.Node {
	out := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		out[n.Name] = n
	}
	return out
}
