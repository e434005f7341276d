package pressure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Options say which nodes are hinted, and how.
type Options struct {
	// Label is key=value, Taint a key; empty: none.
	Label, Taint string
	// MaxHintedFrac bounds the share of hinted nodes: a hint on all of them says
	// nothing.
	MaxHintedFrac float64
	// TTL is how long a hint stands after the last measurement that called for it.
	TTL   time.Duration
	Rules []Rule
	// Scope selects the nodes that may be hinted; nil: all.
	Scope labels.Selector
	// SkipTaints are keys of taints that keep pods off: nodes with one of them, to
	// NoSchedule or NoExecute, are not hinted.
	SkipTaints []string
}

// Decision is what the nodes should carry now.
type Decision struct {
	// Changes are the nodes to write, by name. Nil hints are to be taken away.
	Changes []Change
	// Hinted are the hints that stand once the changes are made.
	Hinted []Hint
	// Unmeasured are the nodes among them about which nothing is known now: their hints
	// stand until they expire.
	Unmeasured []string
	// Capped are hot nodes without a hint, since others are hotter.
	Capped []string
	// Foreign are labels and taints that stand where ours would.
	Foreign []Foreign
	// Unknown is how many nodes in scope no rule knows anything about.
	Unknown int
}

// Change is a node that is to be written.
type Change struct {
	Node string
	Hint *Hint
}

// LastHot says when each node was last measured to be under pressure, as far as this
// process knows.
type LastHot map[string]time.Time

// Decide says what the nodes should carry, by what was measured. It notes in seen
// which nodes it found under pressure. Usage is nil while nothing is known.
//
// A node's hint then is
//
//	measured                      without a hint    with a hint
//	some rule hot                 put, if hot       stays; written anew when half of its
//	                              enough (cap)      time is over, or when its rules change
//	all of the hint's rules cool  -                 taken away
//	one of them not known         -                 stays until it expires
//	not measured at all           -                 stays until TTL after it was last hot
//	                                                (its expiry is brought up to that
//	                                                once), then taken away
//
// Nodes that are skipped, cordoned or excluded have none. On nodes out of scope, and
// on all where there are no rules, hints go when they have expired.
func (o Options) Decide(nodes []*corev1.Node, usage *cluster.Usage, seen LastHot, now time.Time) Decision {
	d := decider{Options: o, lastHot: seen, now: now, marks: map[string]map[string]cluster.Mark{}, usageByNode: map[string]*cluster.NodeUsage{}}
	d.indexUsage(usage)
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	var hot []candidate
	here := map[string]bool{}
	for _, n := range nodes {
		here[n.Name] = true
		if c, isHot := d.decideNode(n); isHot {
			hot = append(hot, c)
		}
	}
	d.chooseHottest(hot)
	maps.DeleteFunc(seen, func(name string, _ time.Time) bool { return !here[name] })
	slices.SortFunc(d.out.Changes, func(a, b Change) int { return cmp.Compare(a.Node, b.Node) })
	slices.SortFunc(d.out.Hinted, func(a, b Hint) int { return cmp.Compare(a.Node, b.Node) })
	slices.Sort(d.out.Capped)
	return d.out
}

// decider is one decision.
type decider struct {
	Options
	lastHot     LastHot
	now         time.Time
	marks       map[string]map[string]cluster.Mark // by watch and node
	usageByNode map[string]*cluster.NodeUsage
	hintable    int // nodes that may be hinted
	unmeasured  int // of them, those whose hint stays without being measured
	out         Decision
}

func (d *decider) indexUsage(usage *cluster.Usage) {
	if usage == nil {
		return
	}
	for _, m := range usage.Marks {
		if d.marks[m.Watch] == nil {
			d.marks[m.Watch] = map[string]cluster.Mark{}
		}
		d.marks[m.Watch][m.Node] = m
	}
	for i := range usage.Nodes {
		d.usageByNode[usage.Nodes[i].Name] = &usage.Nodes[i]
	}
}

// decideNode decides about one node. Those that are hot have to be compared with others.
func (d *decider) decideNode(n *corev1.Node) (candidate, bool) {
	old, ours := Of(n)
	if d.outOfScope(n) {
		// Another release may hint it; only what is over goes.
		d.keepOrRemove(n, old, ours && !old.Expired(d.now))
		return candidate{}, false
	}
	key, _, _ := splitLabel(d.Label)
	d.out.Foreign = append(d.out.Foreign, ForeignOn(n, key, d.Taint)...)
	if d.mustSkip(n) {
		d.keepOrRemove(n, old, false)
		return candidate{}, false
	}
	d.hintable++
	hot, unknown := d.evaluateRules(n)
	if len(unknown) == len(d.Rules) {
		d.out.Unknown++
	}
	switch {
	case len(hot) > 0:
		at := d.lastMeasured(n.Name, hot)
		d.lastHot[n.Name] = at
		return candidate{n, old, ours, hot, at.Add(d.TTL)}, true
	case len(unknown) == len(d.Rules):
		d.keepUnmeasured(n, old, ours)
	case slices.ContainsFunc(old.Rules(), func(name string) bool { return slices.Contains(unknown, name) }):
		d.keepUnmeasured(n, old, ours)
	default:
		delete(d.lastHot, n.Name)
		d.keepOrRemove(n, old, false)
	}
	return candidate{}, false
}

// outOfScope reports whether no rule is about the node.
func (d *decider) outOfScope(n *corev1.Node) bool {
	return len(d.Rules) == 0 || d.Scope != nil && !d.Scope.Matches(labels.Set(n.Labels)) || n.DeletionTimestamp != nil
}

// lastMeasured is when a node was measured last by a rule that holds: what else is
// measured of it later says nothing of that rule.
func (d *decider) lastMeasured(node string, hot []reason) time.Time {
	var last time.Time
	for _, r := range hot {
		at := r.measuredAt
		if at.IsZero() {
			at = d.usageByNode[node].At
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// keepUnmeasured keeps the hint of a node about which not enough is known, as long as it may
// stand.
func (d *decider) keepUnmeasured(n *corev1.Node, old Hint, ours bool) {
	if !ours {
		return
	}
	until := old.Expires
	if last, known := d.lastHot[n.Name]; known {
		// What is recorded is at most half a TTL behind.
		if due := last.Add(d.TTL).Truncate(time.Second); due.After(until) {
			until = due
		}
	}
	if !until.After(d.now) {
		d.keepOrRemove(n, old, false)
		return
	}
	d.unmeasured++
	d.out.Unmeasured = append(d.out.Unmeasured, n.Name)
	old.Expires = until
	d.wantHint(n, old)
}

// keepOrRemove leaves a node as it is, or takes its hint away.
func (d *decider) keepOrRemove(n *corev1.Node, old Hint, stays bool) {
	_, ours := Of(n)
	switch {
	case !ours:
	case stays:
		d.out.Hinted = append(d.out.Hinted, old)
	default:
		d.out.Changes = append(d.out.Changes, Change{n.Name, nil})
	}
}

// wantHint wants the hint on the node, and is a change where the node looks otherwise.
func (d *decider) wantHint(n *corev1.Node, h Hint) {
	h.Node = n.Name
	out, changed := Put(n, h)
	if stands, ours := Of(out); ours {
		d.out.Hinted = append(d.out.Hinted, stands)
	}
	if changed {
		d.out.Changes = append(d.out.Changes, Change{n.Name, &h})
	}
}

// reason is a rule that holds for a node.
type reason struct {
	rule       string
	value      float64
	severity   float64
	measuredAt time.Time // of the measurement; zero: that of the node
}

// evaluateRules says which rules hold for a node, hottest first, and about which of them
// nothing is known.
func (d *decider) evaluateRules(n *corev1.Node) (hot []reason, unknown []string) {
	used := d.usageByNode[n.Name]
	for _, r := range d.Rules {
		m, marked := d.marks[r.WatchName()][n.Name]
		measured := false
		if used != nil {
			_, measured = used.Used[r.Resource]
		}
		switch {
		case !measured || marked && m.CountRestarted && !m.Hot: // counting has only begun
			unknown = append(unknown, r.Name)
		case m.Hot:
			v := measuredValue(m, used.Used[r.Resource], n)
			hot = append(hot, reason{r.Name, v, r.severity(v), m.At})
		}
	}
	slices.SortFunc(hot, func(a, b reason) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(a.rule, b.rule))
	})
	return hot, unknown
}

// measuredValue is what was measured last, or else what the window comes to.
func measuredValue(m cluster.Mark, used int64, n *corev1.Node) float64 {
	if m.Value != 0 {
		return m.Value
	}
	allocatable := cluster.ResourcesOf(n.Status.Allocatable)
	total := cluster.UsageDenominator(&allocatable, m.Resource)
	if total <= 0 {
		return math.NaN()
	}
	return float64(used) / float64(total)
}
