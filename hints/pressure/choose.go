package pressure

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
)

// candidate is a node for which a rule holds.
type candidate struct {
	node    *corev1.Node
	old     Hint
	ours    bool
	reasons []reason // hottest first
	expires time.Time
}

// staying is what a hint that stands adds to a node's heat when too many are hot:
// nodes that are about as hot as each other must not take turns, for each turn is
// two writes and moves the pods that come to yet another node.
const staying = 1.1

func (c *candidate) heat() float64 {
	if c.ours {
		return c.reasons[0].heat * staying
	}
	return c.reasons[0].heat
}

// choose hints the hottest nodes, as many as may be.
func (d *decider) choose(hot []candidate) {
	free := d.limit() - d.held
	hot = slices.DeleteFunc(hot, func(c candidate) bool {
		// Old measurements call for a hint whose time is over, and where everything
		// under our keys is somebody else's there is none to put.
		out, _ := Put(c.node, d.want(c))
		_, stands := Of(out)
		if over := !c.expires.After(d.now); over || !stands {
			d.keep(c.node, c.old, false)
			return true
		}
		return false
	})
	slices.SortStableFunc(hot, func(a, b candidate) int { return cmp.Compare(b.heat(), a.heat()) })
	for i, c := range hot {
		if i >= free {
			d.out.Capped = append(d.out.Capped, c.node.Name)
			d.keep(c.node, c.old, false)
			continue
		}
		d.put(c.node, d.want(c))
	}
}

// limit is how many nodes may be hinted: the share, rounded down. One of at least two
// may always be: that leaves another to go to.
func (d *decider) limit() int {
	n := int(math.Floor(d.MaxHintedFrac*float64(d.open) + 1e-9))
	if n == 0 && d.open >= 2 {
		return 1
	}
	return n
}

// want is the hint for a hot node: the one that stands, as long as it says what is
// so and half of its time is not over.
func (d *decider) want(c candidate) Hint {
	h := Hint{Since: d.now, Expires: c.expires, Rule: c.reasons[0].rule, Value: c.reasons[0].value, Label: d.Label, Taint: d.Taint}
	for _, r := range c.reasons[1:] {
		h.Also = append(h.Also, r.rule)
	}
	if !c.ours || c.old.Rule == "" {
		return h
	}
	h.Since = c.old.Since
	left := c.old.Expires.Sub(c.expires.Add(-d.TTL))
	if sameRules(c.old.Rules(), h.Rules()) && left > d.TTL/2 && left <= d.TTL {
		h.Expires, h.Rule, h.Value, h.Also = c.old.Expires, c.old.Rule, c.old.Value, c.old.Also
	}
	return h
}

func sameRules(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// closed reports whether a node in scope is not to be hinted: no pod goes there, or
// people want it left alone.
func (d *decider) closed(n *corev1.Node) bool {
	skipped := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return slices.Contains(d.SkipTaints, t.Key) && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	})
	return skipped || n.Spec.Unschedulable || len(annotation.OfNode(&cluster.Node{Name: n.Name, Object: n}).Exclude) > 0
}
