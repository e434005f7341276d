package pressure

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
)

// candidate is a node for which at least one rule holds.
type candidate struct {
	node    *corev1.Node
	current Hint
	ours    bool
	reasons []hotRule // hottest first
	expires time.Time
}

// activeHintFactor multiplies the severity of nodes that already have a hint. Otherwise the hint would alternate
// between nodes with similar usage. Each change costs two writes and sends new pods to another node.
const activeHintFactor = 1.1

func (c *candidate) severity() float64 {
	if c.ours {
		return c.reasons[0].severity * activeHintFactor
	}
	return c.reasons[0].severity
}

func (d *decider) chooseHottest(hot []candidate) {
	free := d.maxHinted() - d.unmeasured
	hot = slices.DeleteFunc(hot, func(c candidate) bool {
		// A hint for old measurements would have expired already. If another owner uses the hint
		// keys, the node cannot get a hint.
		out, _ := d.owned.WithHint(c.node, d.desiredHint(c))
		_, stands := d.owned.FromNode(out)
		if over := !c.expires.After(d.now); over || !stands {
			d.keepOrRemove(c.node, c.current, false)
			return true
		}
		return false
	})
	slices.SortStableFunc(hot, func(a, b candidate) int { return cmp.Compare(b.severity(), a.severity()) })
	for i, c := range hot {
		if i >= free {
			d.out.Capped = append(d.out.Capped, c.node.Name)
			d.keepOrRemove(c.node, c.current, false)
			continue
		}
		d.wantHint(c.node, d.desiredHint(c))
	}
}

// maxHinted returns the maximum number of nodes with a hint: MaxHintedFrac of the nodes, rounded down. With two or more
// nodes the maximum is at least one, because another node remains for new pods.
func (d *decider) maxHinted() int {
	n := int(math.Floor(d.MaxHintedFrac*float64(d.hintable) + 1e-9))
	if n == 0 && d.hintable >= 2 {
		return 1
	}
	return n
}

// desiredHint returns the hint for a hot node. desiredHint keeps the existing hint while its rules
// are the same and more than half of its TTL remains.
func (d *decider) desiredHint(c candidate) Hint {
	h := Hint{Since: d.now, Expires: c.expires, Rule: c.reasons[0].rule, Value: c.reasons[0].value, Label: d.Label, Taint: d.Taint}
	for _, r := range c.reasons[1:] {
		h.OtherRules = append(h.OtherRules, r.rule)
	}
	if !c.ours {
		return h
	}
	h.Since = notAfter(c.current.Since, d.now)
	left := c.current.Expires.Sub(c.expires.Add(-d.TTL))
	if sameRules(c.current.Rules(), h.Rules()) && left > d.TTL/2 && left <= d.TTL {
		h.Expires, h.Rule, h.Value, h.OtherRules = c.current.Expires, c.current.Rule, c.current.Value, c.current.OtherRules
	}
	return h
}

func sameRules(a, b []string) bool { return sets.New(a...).Equal(sets.New(b...)) }

// controlPlaneTaints are the keys of NoSchedule or NoExecute taints with which a node gets no hint.
var controlPlaneTaints = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// mustSkip reports whether a node in scope must not get a hint, because it is virtual, belongs to the
// control plane, accepts no
// pods, or an annotation excludes it.
func (d *decider) mustSkip(n *corev1.Node) bool {
	skipped := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return slices.Contains(controlPlaneTaints, t.Key) && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	})
	return skipped || n.Spec.Unschedulable || d.Virtual.Kind(n) != "" || len(annotation.OfNode(&cluster.Node{Name: n.Name, Object: n}).Exclude) > 0
}

// Rule says when a node is under pressure.
type Rule struct {
	Name string
	// Resource is the measured quantity. Values of cpu and memory are fractions of allocatable;
	// values of other resources have their own units.
	Resource string
	// Query is the PromQL that measures Resource; empty if the source measures Resource itself.
	Query string
	// A node becomes hot if its value exceeds Enter, and stays hot until the value reaches Leave.
	// If Below is set, lower values mean more pressure.
	Enter, Leave float64
	Below        bool
	// MinSamples is the number of consecutive samples that must exceed Enter.
	MinSamples int
}

// watchPrefix distinguishes rules from strategies, whose names contain no slash.
const watchPrefix = "hints/"

// WatchName returns the name of the usage watch that evaluates the rule.
func (r Rule) WatchName() string { return watchPrefix + r.Name }

// severity returns how far a value is beyond Enter, as a ratio: 1 at the level, and more beyond it. A ratio makes rules
// with different units comparable. If Enter is 0 or less, severity is 1 plus the distance from Enter.
func (r Rule) severity(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return 1
	case r.Enter <= 0:
		d := v - r.Enter
		if r.Below {
			d = -d
		}
		return max(1+d, 0)
	case !r.Below:
		return max(v/r.Enter, 0)
	case v <= 0:
		return math.MaxFloat64
	}
	return r.Enter / v
}
