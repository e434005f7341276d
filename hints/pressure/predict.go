package pressure

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// HintState is the state of a hint on a node.
type HintState string

const (
	// Present: the hint is on the node and stays.
	Present HintState = "present"
	// ToWrite: the rules require the hint, but it is not on the node.
	ToWrite HintState = "wouldBeWritten"
	// ToRemove: the hint is on the node, but the rules no longer require it.
	ToRemove HintState = "wouldBeCleared"
	// Expired: the hint is on the node and has expired.
	Expired HintState = "expired"
	// Missing: the record is on the node and has not expired, but the label or the taint is missing.
	Missing HintState = "missing"
	// Invalid: the annotation is not the record of a hint.
	Invalid HintState = "invalidRecord"
	// NotOurs: a label or taint of another owner uses the hint key.
	NotOurs HintState = "foreign"
	// AwaitingSamples: too few consecutive samples have exceeded a level so far.
	AwaitingSamples HintState = "awaitingSamples"
	// LimitReached: the node is hot, but the maximum number of nodes with a hint is reached.
	LimitReached HintState = "limitReached"
)

// NodeHint is a hint that a node has or would have, or the reason why the node has no hint.
type NodeHint struct {
	Hint
	State HintState
	// Samples counts the consecutive samples that exceeded the level, out of RequiredSamples. Both
	// are set if State is AwaitingSamples.
	Samples, RequiredSamples int
	// Foreign is set if State is NotOurs.
	Foreign Foreign
	// Problem is set if State is Invalid.
	Problem string
}

// Predict applies the changes of Decide to copies of the nodes, and returns the changed nodes by
// name. For nodes without usage data, only their existing hints count.
func (o Options) Predict(nodes []*corev1.Node, usage *cluster.Usage, now time.Time) map[string]*corev1.Node {
	by := nodesByName(nodes)
	out := map[string]*corev1.Node{}
	for _, c := range o.Decide(nodes, usage, LastHot{}, now).Changes {
		out[c.Node] = o.Owned().apply(by[c.Node], c)
	}
	return out
}

func (o Owned) apply(n *corev1.Node, c Change) *corev1.Node {
	if c.Hint == nil {
		out, _ := o.Remove(n)
		return out
	}
	out, _ := o.WithHint(n, *c.Hint)
	return out
}

// NodeHints returns the hints on the nodes, the hints that the rules require, and the labels and
// taints of other owners under labelKey and taintKey, sorted by node.
func (o Options) NodeHints(nodes []*corev1.Node, usage *cluster.Usage, labelKey, taintKey string, now time.Time) []NodeHint {
	d := o.Decide(nodes, usage, LastHot{}, now)
	changes := map[string]Change{}
	for _, c := range d.Changes {
		changes[c.Node] = c
	}
	var out []NodeHint
	owned := o.Owned()
	spoken := map[string]bool{}
	for _, n := range nodes {
		c, changed := changes[n.Name]
		if s, is := owned.nodeHint(n, c, changed, now); is {
			out, spoken[n.Name] = append(out, s), true
		}
		for _, f := range owned.FindForeign(n, labelKey, taintKey) {
			out = append(out, NodeHint{Hint: Hint{Node: n.Name}, State: NotOurs, Foreign: f})
		}
	}
	for _, name := range d.Capped {
		out = append(out, NodeHint{Hint: Hint{Node: name}, State: LimitReached})
	}
	out = append(out, o.hintsAwaitingSamples(nodesByName(nodes), usage, spoken)...)
	slices.SortStableFunc(out, func(a, b NodeHint) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// nodeHint returns the hint that the node has, or would have after the change.
func (o Owned) nodeHint(n *corev1.Node, c Change, changed bool, now time.Time) (NodeHint, bool) {
	old, problem, recorded := o.readRecord(n)
	ours := recorded && problem == ""
	missing := ours && !old.Complete(n)
	switch {
	case changed && c.Hint != nil && (!ours || missing || old.Expired(now)):
		h, _ := o.FromNode(o.apply(n, c)) // as the annotation would record it
		return NodeHint{Hint: h, State: ToWrite}, true
	case problem != "":
		return NodeHint{Hint: Hint{Node: n.Name}, State: Invalid, Problem: problem}, true
	case !ours:
		return NodeHint{}, false
	case old.Expired(now):
		return NodeHint{Hint: old, State: Expired}, true
	case missing:
		return NodeHint{Hint: old, State: Missing}, true
	case changed && c.Hint == nil:
		return NodeHint{Hint: old, State: ToRemove}, true
	}
	return NodeHint{Hint: old, State: Present}, true
}

// hintsAwaitingSamples returns the unlisted nodes that exceed a level in fewer consecutive samples than the rule
// requires. For each node, hintsAwaitingSamples chooses the rule that needs the fewest further samples.
func (o Options) hintsAwaitingSamples(nodes map[string]*corev1.Node, usage *cluster.Usage, spoken map[string]bool) []NodeHint {
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
			best[m.Node] = NodeHint{Hint: Hint{Node: m.Node, Rule: o.Rules[i].Name, Value: m.Value}, State: AwaitingSamples, Samples: m.Samples,
				RequiredSamples: m.Required}
		}
	}
	return slices.Collect(maps.Values(best))
}

func nodesByName(nodes []*corev1.Node) map[string]*corev1.Node {
	out := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		out[n.Name] = n
	}
	return out
}
