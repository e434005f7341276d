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
	// Stands: it is on the node, and stays.
	Stands State = "stands"
	// Unwritten: the rules want it, and it is not on the node.
	Unwritten State = "wouldBeWritten"
	// Uncleared: it is on the node, and the rules do not want it any more.
	Uncleared State = "wouldBeCleared"
	// Over: it is on the node and has expired.
	Over State = "expired"
	// Others: somebody else's label or taint stands where ours would.
	Others State = "foreign"
	// Counting: a level is exceeded, and not yet by enough samples in a row.
	Counting State = "counting"
	// TooMany: the node is hot, and as many hotter ones carry the hint as may.
	TooMany State = "capped"
)

// Standing is a hint that stands on a node, or would, or what is in its place.
type Standing struct {
	Hint
	State State
	// Samples of Of have exceeded the level, where State is Counting.
	Samples, Of int
	// Foreign is set where State is Others.
	Foreign Foreign
}

// Foretell returns the nodes that would look otherwise if the hints that the rules want
// now were written, and those that they do not want were taken away; by name, each as
// Put or Take leaves it. It begins without memory: what an earlier decision knew of
// nodes that are not measured now is on the nodes or nowhere.
func (o Options) Foretell(nodes []*corev1.Node, usage *cluster.Usage, now time.Time) map[string]*corev1.Node {
	by := byName(nodes)
	out := map[string]*corev1.Node{}
	for _, c := range o.Decide(nodes, usage, Seen{}, now).Changes {
		out[c.Node] = after(by[c.Node], c)
	}
	return out
}

func after(n *corev1.Node, c Change) *corev1.Node {
	if c.Hint == nil {
		out, _ := Take(n)
		return out
	}
	out, _ := Put(n, *c.Hint)
	return out
}

// Standings lists the hints on the nodes, those that the rules want, and what of
// others stands under the keys of the label and the taint; by node.
func (o Options) Standings(nodes []*corev1.Node, usage *cluster.Usage, labelKey, taintKey string, now time.Time) []Standing {
	d := o.Decide(nodes, usage, Seen{}, now)
	changes := map[string]Change{}
	for _, c := range d.Changes {
		changes[c.Node] = c
	}
	var out []Standing
	spoken := map[string]bool{}
	for _, n := range nodes {
		c, changed := changes[n.Name]
		if s, is := standing(n, c, changed, now); is {
			out, spoken[n.Name] = append(out, s), true
		}
		for _, f := range ForeignOn(n, labelKey, taintKey) {
			out = append(out, Standing{Hint: Hint{Node: n.Name}, State: Others, Foreign: f})
		}
	}
	for _, name := range d.Capped {
		out = append(out, Standing{Hint: Hint{Node: name}, State: TooMany})
	}
	out = append(out, o.counting(byName(nodes), usage, spoken)...)
	slices.SortStableFunc(out, func(a, b Standing) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// standing is what stands on a node or would, where a change is due.
func standing(n *corev1.Node, c Change, changed bool, now time.Time) (Standing, bool) {
	old, ours := Of(n)
	switch {
	case changed && c.Hint != nil && (!ours || old.Expired(now)):
		h, _ := Of(after(n, c)) // as it would be recorded
		return Standing{Hint: h, State: Unwritten}, true
	case !ours:
		return Standing{}, false
	case old.Expired(now):
		return Standing{Hint: old, State: Over}, true
	case changed && c.Hint == nil:
		return Standing{Hint: old, State: Uncleared}, true
	}
	return Standing{Hint: old, State: Stands}, true
}

// counting are the nodes that no hint is spoken of and that exceed a level, not yet by
// as many samples in a row as the rule wants; of each node the rule that wants fewest.
func (o Options) counting(nodes map[string]*corev1.Node, usage *cluster.Usage, spoken map[string]bool) []Standing {
	if usage == nil {
		return nil
	}
	d := decider{Options: o}
	best := map[string]Standing{}
	for _, m := range usage.Marks {
		n := nodes[m.Node]
		i := slices.IndexFunc(o.Rules, func(r Rule) bool { return r.Watch() == m.Watch })
		if i < 0 || n == nil || spoken[m.Node] || m.Hot || m.Samples < 1 || m.Samples >= m.Required || d.outside(n) || d.closed(n) {
			continue
		}
		if b, there := best[m.Node]; !there || m.Required-m.Samples < b.Of-b.Samples {
			best[m.Node] = Standing{Hint: Hint{Node: m.Node, Rule: o.Rules[i].Name, Value: m.Value}, State: Counting, Samples: m.Samples, Of: m.Required}
		}
	}
	out := make([]Standing, 0, len(best))
	for _, s := range best {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Standing) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

func byName(nodes []*corev1.Node) map[string]*corev1.Node {
	out := make(map[string]*corev1.Node, len(nodes))
	for _, n := range nodes {
		out[n.Name] = n
	}
	return out
}
